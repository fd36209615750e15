-- audit: every compressed token account has the owner and the mint that were asked for
-- table: compressed_token_accounts
-- returns the rows of ready crawls that break it: an answer to another question must not enter the table
-- $files: staging files of the ready crawls for this table
select
  s.task,
  s.crawl,
  'account ' || s.hash || ' has another owner or mint than was asked for' as problem
from read_parquet($files) as s
join ready as r using (task, crawl)
where s.owner <> (r.params ->> '$.owner')
  or s.mint <> (r.params ->> '$.mint')
