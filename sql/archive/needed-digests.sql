-- The digests of the texts that pages need of other segments' record files.
-- grain: one row a digest
-- $pages: the archived page files that stay
create or replace temp table needed as
select distinct unnest(digest_list(parsed.digests)) as digest
from (
  select from_json(line, '{"digests": "VARCHAR"}') as parsed
  from read_parquet($pages)
  where kind = 'page' and kept_segment is null
)
where parsed.digests is not null;
