-- The ids that the ready batches requested.
-- grain: one row an id of a slice
-- $page_files: page files of the landing log
-- A slice that was cut is frozen again with its first part, so its shortest list is the one that was requested; the other parts
-- have numbers of their own.
create or replace temp table requested_id as
with slice as (
  select
    task,
    crawl,
    page,
    arg_min(ids, len(ids)) as ids
  from read_json(
    $page_files,
    format = 'newline_delimited',
    records = true,
    maximum_object_size = 8388608,
    columns = {kind: 'VARCHAR', task: 'VARCHAR', crawl: 'VARCHAR', page: 'BIGINT', ids: 'VARCHAR[]'}
  )
  semi join ready using (task, crawl)
  where kind = 'ids'
  group by
    task,
    crawl,
    page
)
select
  task,
  crawl,
  page,
  unnest(ids) as id
from slice;
