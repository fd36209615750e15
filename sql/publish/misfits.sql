-- How many records of each ready crawl have something that did not fit.
-- grain: one row a crawl with such records
-- $files: all staging files of the ready crawls
create or replace temp table misfit_count as
select
  task,
  crawl,
  count(*) as quarantined
from read_parquet($files, union_by_name = true)
semi join ready using (task, crawl)
where len(misfits) > 0
group by
  task,
  crawl;
