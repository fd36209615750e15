-- Whose assets have not changed for longest?
-- `changed_slot` is when a row last changed in what was crawled: what stood so before the first crawl has its slot. For a limit,
-- add: having slots_since > 5000000 (2.5 slots a second: about 23 days).
select
  owner,
  count(*) as assets,
  max(changed_slot) as last_change,
  (select max(slot) from assets) - max(changed_slot) as slots_since
from assets
where burnt is distinct from true and owner is not null
group by owner
order by slots_since desc, assets desc, owner
limit 50;
