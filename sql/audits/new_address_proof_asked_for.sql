-- audit: every address proof is one that was asked for
-- table: new_address_proofs
-- returns the rows of ready crawls that break it: an answer to another question must not enter the table
-- $files: staging files of the ready crawls for this table
select
  s.task,
  s.crawl,
  'proof of ' || s.address || ' was not asked for' as problem
from read_parquet($files) as s
join ready as r using (task, crawl)
where s.address is not null
  and not exists (
    from requested_id as a
    where a.task = s.task
      and a.crawl = s.crawl
      and a.page = s.page
      and a.address = s.address
      and a.tree = s.tree
  )
