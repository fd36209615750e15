-- The compressed token accounts of an owner, of one mint or all. Spent ones leave the list.
-- grain: one row a listed crawl and compressed token account
-- table: compressed_token_accounts
-- lookup: getMultipleCompressedAccounts
select
  l.task,
  l.crawl,
  t.hash as key,
  t.slot,
  t.seen_at,
  null as gone_reason
from listed as l
join {rows} as t on t.owner = (l.params ->> '$.owner')
where l.operation = 'getCompressedTokenAccountsByOwner'
  and coalesce((l.params ->> '$.mint') = t.mint, (l.params ->> '$.mint') is null)
