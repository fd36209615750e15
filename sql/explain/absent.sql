-- Why a row may be gone: what waits for a second answer.
-- grain: one row a key
-- $table: name of the table; $key: the row's key
select
  job,
  target,
  lookup,
  slot,
  missed_at::varchar as missed_at,
  asked_at::varchar as asked_at,
  null_at::varchar as null_at,
  null_slot
from meta.absent
where table_name = $table and key = $key
