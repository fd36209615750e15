-- Compressed accounts that the ready crawls requested, by hash or by the address they had.
-- grain: one row a page and hash
-- table: compressed_accounts
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
  r.task,
  r.crawl,
  1 as page,
  coalesce(r.params ->> '$.hash', t.hash) as key
from ready as r
left join compressed_accounts as t on t.address = (r.params ->> '$.address')
where r.operation = 'getCompressedAccount'
