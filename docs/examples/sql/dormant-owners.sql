-- Which owners hold assets that have not changed for long?
-- Here: not since the middle of what is known. `changed_slot` is when the row last changed in what was crawled: what stood so
-- before the first crawl has its slot.
with middle as (
  select (min(changed_slot) + max(slot)) // 2 as slot
  from assets
)
select
  a.owner,
  count(*) as assets,
  max(a.changed_slot) as last_change
from assets as a
join middle as m on true
where a.burnt is distinct from true and a.owner is not null
group by a.owner
having max(a.changed_slot) <= any_value(m.slot)
order by assets desc, a.owner
limit 50;
