-- The assets of a group, as its list would show them: burnt ones leave the lists.
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
  select
    id,
    slot,
    seen_at,
    unnest(grouping) as pair
  from {rows}
  where burnt is not true
) as t
  on t.pair.group_key = (l.params ->> '$.groupKey') and t.pair.group_value = (l.params ->> '$.groupValue')
where l.operation = 'getAssetsByGroup'
