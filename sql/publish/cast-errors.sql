-- How many records of each ready crawl have a cast error.
-- grain: one row a crawl with such records; a record with cast errors in two tables counts once
-- $files: all staging files
create or replace temp table cast_error_count as
select
  task,
  crawl,
  count(distinct (page, n)) as quarantined,
  -- The commonest column and reason; of several, the first by name.
  mode(
    concat_ws(' ', cast_error.column_name, cast_error.reason)
    order by concat_ws(' ', cast_error.column_name, cast_error.reason)
  ) as problem,
  list_distinct(min(left(cast_error.raw, 80), 3)) as examples
from (
  select task, crawl, page, n, unnest(cast_errors) as cast_error
  from read_parquet($files, union_by_name = true)
  semi join ready using (task, crawl)
  where len(cast_errors) > 0
)
group by
  task,
  crawl;
