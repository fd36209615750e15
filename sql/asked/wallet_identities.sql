-- Identities that the ready crawls requested by wallet.
-- grain: one row a page and wallet
-- table: wallet_identities
-- answered in: wallet_identities
select
  a.task,
  a.crawl,
  a.page,
  a.id as key
from requested_id as a
join ready as r using (task, crawl)
where r.operation = 'walletBatchIdentity'
union all
select
  task,
  crawl,
  1 as page,
  params ->> '$.wallet' as key
from ready
where operation = 'walletIdentity'
