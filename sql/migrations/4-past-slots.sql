-- Version 4, for each table with history, after sql/migrations/4-slots.sql: versions that began or ended at no slot.
-- {table}, {key}: the table and its key columns. Table `run_slot`: there
create or replace temp table unplaced as
select p.rowid as place, coalesce(r.slot, p.slot, whole.slot) as slot
from past.{table} as p
left join run_slot as r using (run_id)
cross join (select min(slot) as slot from {table}) as whole
where p.changed_slot is null and whole.slot is not null;

update past.{table} set changed_slot = unplaced.slot
from unplaced
where past.{table}.rowid = unplaced.place;

update past.{table} set slot = changed_slot
where slot is null and changed_slot is not null;

-- A version ends where the next one begins. After the last one the row left: at the newest slot that was seen by then.
create or replace temp table unended as
with version as (
  select rowid as place, {key}, changed_slot, changed_at, valid_to_slot, valid_to
  from past.{table}
  union all
  select null, {key}, changed_slot, changed_at, null, null
  from {table}
),
followed as (
  select
    *,
    lead(changed_slot) over (partition by {key} order by changed_at, place nulls last) as next_slot
  from version
)
select
  place,
  greatest(
    coalesce(
      next_slot,
      (
        select max(c.max_slot)
        from meta.checkpoints as c
        where c.state = 'complete' and c.finished_at <= followed.valid_to
      )
    ),
    changed_slot
  ) as slot
from followed
where place is not null and valid_to_slot is null and changed_slot is not null;

update past.{table} set valid_to_slot = unended.slot
from unended
where past.{table}.rowid = unended.place;
