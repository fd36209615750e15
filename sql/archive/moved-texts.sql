-- The texts of some record files that pages need.
-- grain: one row a text
-- $pages: the archived page files that stay; $files: the record files
with needed as (
  select distinct unnest(digest_list(parsed.digests)) as digest
  from (
    select from_json(line, '{"digests": "VARCHAR"}') as parsed
    from read_parquet($pages)
    where kind = 'page' and kept_segment is null
  )
  where parsed.digests is not null
)
select task, crawl, page, n, digest, line
from read_parquet($files, union_by_name = true)
semi join needed using (digest)
