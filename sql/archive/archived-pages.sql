-- The lines of a segment's page file as the archive keeps them. Each digest is replaced by the name of its text, because names mostly
-- go up by one and compress, and digests do not. The archive has each digest once, beside its text.
-- grain: one row a line
-- line_md5 shows when the segment is restored that these are what they were (sql/archive/changed-lines.sql).
-- Tables `page`: sql/archive/pages.sql; `known_digest`, `new_text`: the texts
with named as (
  select digest, min({'segment': text_segment, 'number': text_number}) as text
  from (
    from known_digest
    union all
    select digest, text_segment, text_number
    from new_text
  )
  group by digest
),
record as (
  select
    line_number,
    unnest(range(records)) as n,
    unnest(digest_list(digests)) as digest
  from page
  where kind = 'page'
),
text_names as (
  select
    line_number,
    list(text.segment order by n) as text_segments,
    list(text.number order by n) as text_numbers
  from record
  join named using (digest)
  group by line_number
),
archived as (
  select
    p.* exclude (line, records, digests),
    if(t.text_numbers is null, p.line, replace(p.line, '"digests":"' || p.digests || '"', '"digests":""')) as line,
    t.text_segments,
    t.text_numbers
  from page as p
  left join text_names as t using (line_number)
)
select *, md5(line || coalesce(text_segments::varchar || text_numbers::varchar, '')) as line_md5
from archived
order by line_number
