-- What a wallet holds; empty balances only where the list shows them.
-- grain: one row a listed crawl and balance
-- table: wallet_balances
select
  l.task,
  l.crawl,
  concat_ws('/', t.wallet, t.mint) as key,
  t.slot,
  t.seen_at,
  if((l.params ->> '$.showZeroBalance') is not distinct from 'true', 'not_listed', 'zero_or_closed') as gone_reason
from listed as l
join {rows} as t on t.wallet = (l.params ->> '$.wallet')
where l.operation = 'walletBalances'
  and ((l.params ->> '$.showZeroBalance') is not distinct from 'true' or t.balance > 0)
