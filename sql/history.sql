-- What a table whose header says `-- history: yes` has beside it: its former versions, and ways to ask for the past.
-- {table} stands for its name, {key} for its key columns, {rows} for its rows without `followed`, which is of the present only.
-- A version holds from `valid_from` (when its first answer arrived) to before `valid_to` (when the next one did), and
-- from `valid_from_slot` to before `valid_to_slot`. What is current stands in the table alone; the view has both.
create schema if not exists past;

create table if not exists past.{table} as
select *, null::bigint as valid_to_slot, null::timestamptz as valid_to, null::varchar as gone_reason
from {rows}
where false;

-- grain: one row a version of a row of {table}
create or replace view {table}_history as
select
  * exclude (changed_slot, changed_at, valid_to_slot, valid_to, gone_reason),
  changed_slot as valid_from_slot,
  valid_to_slot,
  changed_at as valid_from,
  valid_to,
  gone_reason
from past.{table}
union all by name
select
  * exclude (changed_slot, changed_at),
  changed_slot as valid_from_slot,
  null as valid_to_slot,
  changed_at as valid_from,
  null as valid_to,
  null as gone_reason
from {rows};

-- The rows as they were at a slot, where the source has slots. Rows begin at the slot of their own page, so a crawl is in as a
-- whole from the highest of them on (`max_slot` of meta.checkpoints).
create or replace macro {table}_at_slot(at_slot) as table
select *
from {table}_history
where valid_from_slot <= at_slot and (valid_to_slot is null or valid_to_slot > at_slot)
qualify row_number() over (partition by {key} order by valid_from_slot desc, valid_from desc) = 1;

-- The rows as they had been seen by a time.
create or replace macro {table}_at_time(at_time) as table
select *
from {table}_history
where valid_from <= at_time and (valid_to is null or valid_to > at_time)
qualify row_number() over (partition by {key} order by valid_from desc) = 1;

-- The rows as a run left them: as they had been seen when the next one began. The id of no run is an error.
create or replace macro {table}_as_of_run(run) as table
from {table}_at_time((
  select
    case
      when count(*) filter (where run_id = run) = 0 then error(concat('no run of meta.runs is called ', run))
      else coalesce(min(started_at) filter (where run_id > run), 'infinity'::timestamptz)
    end
  from meta.runs
));

comment on view {table}_history is 'Every version of the rows of {table}, current ones too. The other columns are those of {table}.';
comment on column {table}_history.valid_from_slot is 'Slot of the answer that brought the version; NULL where the source has none.';
comment on column {table}_history.valid_to_slot is 'Slot of the answer that ended it, exclusive; NULL while it is current, and where the source has none.';
comment on column {table}_history.valid_from is 'When that first answer arrived.';
comment on column {table}_history.valid_to is 'When the answer that ended it arrived; NULL while it is current.';
comment on column {table}_history.gone_reason is 'Why the row left, where no other version followed: spent, zero_or_closed, not_listed, unknown, forgotten.';
