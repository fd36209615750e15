-- The owners with the most assets.
-- grain: one row an owner; at most 10, the largest first
select
  owner,
  count(*)::varchar as assets,
  (count(*) / sum(count(*)) over ())::double as share
from assets
where owner is not null and burnt is distinct from true
group by owner
order by
  count(*) desc,
  owner
limit 10
