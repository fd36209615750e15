-- The digests of some segments whose texts the archive has, and what their texts are named.
-- grain: one row a text
-- $pages: their page files; $files: archived record files
insert into known_digest
with received as (
  select unnest(digest_list(digests)) as digest
  from read_json(
    $pages,
    format = 'newline_delimited',
    records = true,
    maximum_object_size = 8388608,
    columns = {kind: 'VARCHAR', digests: 'VARCHAR'}
  )
  where kind = 'page'
),
text as (
  select digest, text_segment, text_number
  from read_parquet($files)
)
from text
semi join received using (digest)
