-- Which assets changed hands between two slots?
-- Here: all that is known. Put slots in the place of the first two values. Nights between which an asset went forth and back
-- show nothing: a crawl sees the ledger as it is when it looks.
with bounds as (
  select min(valid_from_slot) as after_slot, max(valid_from_slot) as to_slot
  from assets_history
),
version as (
  select
    id,
    owner,
    lag(owner) over (partition by id order by valid_from) as former_owner,
    valid_from_slot as slot,
    valid_from as seen
  from assets_history
)
select id, former_owner, owner, slot, seen
from version, bounds
where slot > after_slot and slot <= to_slot and former_owner is distinct from owner and former_owner is not null
order by slot desc, id
limit 100;
