-- The assets of a creator, as its list would show them.
-- grain: one row a listed crawl and asset
-- table: assets
-- lookup: getAssetBatch
select
  l.task,
  l.crawl,
  t.id as key,
  t.slot,
  t.seen_at,
  null as gone_reason
from listed as l
join (
  select distinct
    id,
    slot,
    seen_at,
    creator.address,
    creator.verified
  from (
    select
      id,
      slot,
      seen_at,
      unnest(creators) as creator
    from {rows}
    where burnt is not true
  )
) as t
  on t.address = (l.params ->> '$.creatorAddress')
where l.operation = 'getAssetsByCreator'
  and (t.verified or (l.params ->> '$.onlyVerified') is distinct from 'true')
