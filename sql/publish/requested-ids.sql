-- The ids that the ready batches requested.
-- grain: one row an id of a slice
-- id: of a plain id, else NULL; address, tree: of an id that is a mapping (getMultipleNewAddressProofsV2), frozen as its JSON
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
),
frozen as (
  select
    task,
    crawl,
    page,
    unnest(ids) as frozen,
    starts_with(frozen, '{') as is_mapping,
    from_json(case when is_mapping then frozen end, '{"address": "VARCHAR", "tree": "VARCHAR"}') as mapping
  from slice
)
select
  task,
  crawl,
  page,
  case when not is_mapping then frozen end as id,
  mapping.address as address,
  mapping.tree as tree
from frozen;
