-- How fresh a table is. {table} stands for its name.
-- grain: one row
select
  '{table}' as name,
  count(*)::varchar as rows,
  max(seen_at) as seen_at,
  max(slot)::varchar as slot
from {table}
