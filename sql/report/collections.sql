-- The collections with the most assets.
-- grain: one row a collection; at most 12, the largest first
-- holders: distinct owners; top_share, top_ten_share: how much of the collection its largest holder, its ten largest have
with held as (
  select collection, owner, count(*) as assets, count(*) filter (where compressed) as compressed
  from assets
  where collection is not null and burnt is distinct from true
  group by
    collection,
    owner
),
ranked as (
  select *, row_number() over (partition by collection order by owner is null, assets desc) as rank
  from held
)
select
  collection,
  sum(assets)::varchar as assets,
  count(owner)::varchar as holders,
  coalesce(sum(compressed) / sum(assets), 0)::double as compressed_share,
  coalesce(sum(assets) filter (where rank = 1 and owner is not null) / sum(assets), 0)::double as top_share,
  coalesce(sum(assets) filter (where rank <= 10 and owner is not null) / sum(assets), 0)::double as top_ten_share
from ranked
group by collection
order by
  sum(assets) desc,
  collection
limit 12
