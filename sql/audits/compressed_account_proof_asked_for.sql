-- audit: every account proof is the one that was asked for
-- table: compressed_account_proofs
-- returns the rows of ready crawls that break it: an answer to another question must not enter the table
-- $files: staging files of the ready crawls for this table
select
  s.task,
  s.crawl,
  'proof of ' || s.hash || ' was not asked for' as problem
from read_parquet($files) as s
join ready as r using (task, crawl)
where s.hash <> (r.params ->> '$.hash')
