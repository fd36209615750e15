-- The assets as a whole.
-- grain: one row
-- top_ten_share, top_hundred_share: how much of the assets with an owner the largest owners have
with held as (
  select owner, count(*) as assets, row_number() over (order by count(*) desc) as rank
  from assets
  where owner is not null and burnt is distinct from true
  group by owner
)
select
  (select count(*) from assets)::varchar as assets,
  (select count(*) from assets where burnt)::varchar as burnt,
  (select count(*) from assets where compressed)::varchar as compressed,
  coalesce((select count(*) filter (where compressed) / nullif(count(*), 0) from assets), 0)::double as compressed_share,
  count(*)::varchar as owners,
  coalesce(sum(assets) filter (where rank <= 10) / sum(assets), 0)::double as top_ten_share,
  coalesce(sum(assets) filter (where rank <= 100) / sum(assets), 0)::double as top_hundred_share
from held
