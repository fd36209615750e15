-- How much of each collection do its ten largest holders have?
with held as (
  select collection, owner, count(*) as assets
  from assets
  where burnt is distinct from true and collection is not null and owner is not null
  group by collection, owner
),
ranked as (
  select *, row_number() over (partition by collection order by assets desc, owner) as place
  from held
)
select
  collection,
  count(*) as holders,
  sum(assets) as assets,
  round(100 * sum(assets) filter (where place <= 10) / sum(assets), 1) as top_ten_percent,
  -- 1: one holder has all; near 0: everybody has as little as the others.
  round(sum(power(assets, 2)) / power(sum(assets), 2), 4) as herfindahl
from ranked
group by collection
order by assets desc;
