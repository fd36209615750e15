-- Rows that left while one run published. {table} and {key} stand for its name and key columns.
-- grain: one row a row; at most 5
-- $from, $to: when the run began and ended, ISO times
select gone_reason, columns(* exclude (gone_reason))::varchar
from past.{table}
where gone_reason is not null and valid_to between $from::timestamptz and $to::timestamptz
order by {key}
limit 5
