-- The digests of some segments whose texts the archive has, and what their texts are named.
-- grain: one row a text
-- $pages: their page files; $longest_page_line: bytes of the longest line that may come; $files: archived record files
insert into known_digest
with received as (
  select unnest(digest_list(digests)) as digest
  from read_json(
    $pages,
    format = 'newline_delimited',
    records = true,
    maximum_object_size = $longest_page_line,
    columns = {kind: 'VARCHAR', digests: 'VARCHAR'}
  )
  where kind = 'page' and digests is not null
),
-- Files of older versions have no digests.
text as (
  select null::uuid as digest, null::bigint as text_segment, null::integer as text_number
  where false
  union all by name
  select * exclude (line)
  from read_parquet($files, union_by_name = true)
)
select digest, text_segment, text_number
from text
semi join received using (digest)
where text_number is not null
