-- Compressed token accounts that the ready crawls requested by hash. A token account leaves with its account.
-- grain: one row a page and hash
-- table: compressed_token_accounts
-- answered in: compressed_accounts
select
  a.task,
  a.crawl,
  a.page,
  a.id as key
from requested_id as a
join ready as r using (task, crawl)
where r.operation = 'getMultipleCompressedAccounts'
union all
select
  task,
  crawl,
  1 as page,
  params ->> '$.hash' as key
from ready
where operation = 'getCompressedAccount'
