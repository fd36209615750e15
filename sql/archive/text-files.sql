-- The record files that have some of a segment's texts.
-- grain: one row a file
-- $files: all of the archive's. Table `restored_digest`: sql/archive/restored-digests.sql
with text as (
  -- Files of older versions have no digests.
  select null::uuid as digest, null::varchar as filename
  where false
  union all by name
  select * exclude (line)
  from read_parquet($files, filename = true, union_by_name = true)
)
select distinct filename
from text
semi join restored_digest using (digest)
