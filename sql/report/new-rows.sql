-- Rows that one run brought, and the first version of which they still are. {table} and {key} stand for its name and key.
-- grain: one row a row; at most 5
-- $run: the run
select columns(*)::varchar
from {table}
where run_id = $run and first_seen_slot is not distinct from changed_slot
order by {key}
limit 5
