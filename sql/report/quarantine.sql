-- What did not fit, by reason.
-- grain: one row a table, column and reason; at most 20, the most frequent first
select
  table_name,
  column_name,
  reason,
  count(*)::varchar as entries,
  left(any_value(raw), 120) as example
from meta.quarantine
group by
  table_name,
  column_name,
  reason
order by
  count(*) desc,
  table_name,
  column_name,
  reason
limit 20
