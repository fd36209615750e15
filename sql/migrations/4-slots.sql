-- Version 4, for each merge table: what answers without a slot left in a table whose others have slots. Versions began at
-- no slot, and so ended at none: two of a row were open at once.
-- {table}, {key}: the table and its key columns. Tables without any slot are left alone.

-- The least slot that the answers of a run said, as far as it is known.
create or replace temp table run_slot as
select run_id, min(slot) as slot
from (
  select run_id, changed_slot as slot
  from {table}
  union all
  select run_id, min_slot
  from meta.checkpoints
  where state = 'complete'
)
group by run_id;

create or replace temp table unplaced as
select
  t.rowid as place,
  least(coalesce(r.slot, t.slot, whole.slot), t.slot) as slot
from {table} as t
left join run_slot as r using (run_id)
cross join (select min(slot) as slot from {table}) as whole
where t.changed_slot is null and whole.slot is not null;

update {table} set changed_slot = unplaced.slot
from unplaced
where {table}.rowid = unplaced.place;

update {table} set
  slot = coalesce(slot, changed_slot),
  first_seen_slot = coalesce(first_seen_slot, changed_slot)
where changed_slot is not null and (slot is null or first_seen_slot is null);
