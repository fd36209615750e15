-- Rows that one run changed, each with the version that it ended. {table} and {key} stand for its name and key columns.
-- grain: two rows a changed row, the former one first; at most 5 of them
-- $run: the run
with changed as (
  select *
  from {table}
  where run_id = $run and first_seen_slot is distinct from changed_slot
  order by {key}
  limit 5
),
former as (
  select *
  from past.{table}
  semi join changed using ({key})
  qualify row_number() over (partition by {key} order by valid_to desc) = 1
)
select false as is_current, columns(* exclude (valid_to_slot, valid_to, gone_reason))::varchar
from former
union all by name
select true as is_current, columns(*)::varchar
from changed
order by
  {key},
  is_current
