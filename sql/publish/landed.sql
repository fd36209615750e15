-- Every line of the landing log's page files.
-- grain: one row a page, frozen slice of ids, or failure
-- $page_files: the page files of all whole segments
create or replace temp table landed as
select
  regexp_extract(filename, '(\d+)\.pages\.ndjson$', 1)::bigint as segment,
  kind,
  task,
  crawl,
  run,
  job,
  target,
  operation,
  params,
  shape,
  page,
  position ->> '$.cursor' as cursor,
  (position ->> '$.page')::bigint as page_number,
  next ->> '$.cursor' as next_cursor,
  "end" as end_reason,
  slot,
  records,
  last_slot,
  feed,
  incremental,
  range,
  from_slot,
  received_at,
  last,
  reason,
  failed_at
from read_json(
  $page_files,
  format = 'newline_delimited',
  filename = true,
  maximum_object_size = 4194304,
  columns = {
    kind: 'VARCHAR',
    task: 'VARCHAR',
    crawl: 'VARCHAR',
    run: 'VARCHAR',
    job: 'VARCHAR',
    target: 'VARCHAR',
    operation: 'VARCHAR',
    params: 'JSON',
    shape: 'VARCHAR',
    page: 'BIGINT',
    position: 'JSON',
    next: 'JSON',
    "end": 'VARCHAR',
    slot: 'BIGINT',
    records: 'BIGINT',
    last_slot: 'BIGINT',
    feed: 'BOOLEAN',
    incremental: 'BOOLEAN',
    range: 'STRUCT(number BIGINT, count BIGINT, after VARCHAR, before VARCHAR)',
    from_slot: 'BIGINT',
    received_at: 'TIMESTAMPTZ',
    last: 'BOOLEAN',
    reason: 'VARCHAR',
    failed_at: 'TIMESTAMPTZ'
  }
)
where kind <> 'sealed';
