-- First funds that the ready crawls requested by wallet.
-- grain: one row a page and wallet
-- table: wallet_funding
-- answered in: wallet_funding
select
  task,
  crawl,
  1 as page,
  params ->> '$.wallet' as key
from ready
where operation = 'walletFundedBy'
