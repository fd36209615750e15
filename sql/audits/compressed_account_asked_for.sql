-- audit: every compressed account of a look-up is one that was asked for
-- table: compressed_accounts
-- returns the rows of ready crawls that break it: an answer to another question must not enter the table
-- $files: staging files of the ready crawls for this table
select
  s.task,
  s.crawl,
  'account ' || s.hash || ' was not asked for' as problem
from read_parquet($files) as s
join ready as r using (task, crawl)
where (r.operation = 'getCompressedAccount' and s.hash <> (r.params ->> '$.hash'))
  or (r.operation = 'getCompressedAccount' and s.address is distinct from coalesce(r.params ->> '$.address', s.address))
  or (
    r.slices > 0
    and s.hash is not null
    and not exists (
      from requested_id as a
      where a.task = s.task and a.crawl = s.crawl and a.page = s.page and a.id = s.hash
    )
  )
