-- The digests of some segments whose texts the archive has.
-- grain: one row a digest
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
  select null::uuid as digest
  where false
  union all by name
  select * exclude (line)
  from read_parquet($files, union_by_name = true)
)
select digest
from text
semi join received using (digest)
