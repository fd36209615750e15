-- The token accounts of an owner, of a mint, or of both; empty ones only where the list shows them.
-- grain: one row a listed crawl and token account
-- table: token_accounts
with listed_target as (
  select
    task,
    crawl,
    params ->> '$.owner' as owner,
    params ->> '$.mint' as mint,
    (params ->> '$.options.showZeroBalance') is not distinct from 'true' as shows_empty
  from listed
  where operation = 'getTokenAccounts'
),
member as (
  select a.task, a.crawl, a.shows_empty, t.*
  from listed_target as a
  join {rows} as t on t.owner = a.owner
  where a.mint is null or t.mint = a.mint
  union all
  select a.task, a.crawl, a.shows_empty, t.*
  from listed_target as a
  join {rows} as t on t.mint = a.mint
  where a.owner is null
)
select
  task,
  crawl,
  address as key,
  slot,
  seen_at,
  if(shows_empty, 'not_listed', 'zero_or_closed') as gone_reason
from member
where shows_empty or amount > 0
