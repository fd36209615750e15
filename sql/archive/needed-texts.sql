-- How many texts each record file holds, and how many of them a page that stays needs.
-- grain: one row a record file
-- $files: record files whose own page lines have left the archive, or leave it
-- Table `needed_name`: sql/archive/needed-names.sql
select
  regexp_extract(t.filename, '(\d+)\.parquet$', 1)::bigint as segment,
  count(*) as texts,
  count(*) filter (where n.text_number is not null) as needed
from read_parquet($files, filename = true) as t
left join needed_name as n using (text_segment, text_number)
group by segment
order by segment
