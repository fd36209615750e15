-- What of the ready crawls did not fit: by record, and counted by crawl and column, and by crawl.
-- grain: `cast_error_column` one row a crawl, table and column; `cast_error_count` one row a crawl; a record counts once in each
-- column_name: of a record without a usable key, the key; NULL for one that the source did not give, or that no reader takes
-- name: table and column as `meta.checkpoints.cast_errors` has them
-- Table `cast_error` (task, crawl, page, n, table_name, column_name, steady, whole, reason, raw): src/publish/cast-errors.ts
create or replace temp table cast_error_column as
select
  task,
  crawl,
  table_name,
  column_name,
  concat_ws('.', table_name, column_name) as name,
  bool_or(steady) as steady,
  bool_and(whole) as whole,
  count(distinct (page, n)) as rows,
  mode(reason order by reason) as reason,
  list_distinct(min(left(raw, 80), 3)) as examples
from cast_error
group by
  task,
  crawl,
  table_name,
  column_name;

create or replace temp table cast_error_count as
select
  task,
  crawl,
  any_value(m.counts) as counts,
  count(distinct (page, n)) as quarantined,
  -- The commonest column and reason; of several, the first by name.
  mode(
    concat_ws(' ', if(whole, null, column_name), reason)
    order by concat_ws(' ', if(whole, null, column_name), reason)
  ) as problem,
  list_distinct(min(left(raw, 80), 3)) as examples
from cast_error
join (
  select task, crawl, map_from_entries(list((name, rows) order by name)) as counts
  from cast_error_column
  group by
    task,
    crawl
) as m using (task, crawl)
group by
  task,
  crawl;
