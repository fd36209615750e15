-- The start of every shape: the records of one segment, each with its page.
-- grain: one row a record of the segment, refused ones included
-- $pages, $records: the segment's two files
-- record is the record's JSON; NULL when `refusal` says why DuckDB cannot read it, and `raw` is then its text.
with page as (
  select
    task,
    crawl,
    page,
    run as run_id,
    operation,
    params,
    -- Identity of the question, where an answer has no key of its own.
    left(sha256(params::varchar), 32) as request_key,
    carries,
    -- Records of the page's first group that stand on the pages before it.
    coalesce("group".before, 0) as group_before,
    slot as page_slot,
    received_at as seen_at
  from read_json(
    $pages,
    format = 'newline_delimited',
    maximum_object_size = 4194304,
    columns = {
      kind: 'VARCHAR',
      task: 'VARCHAR',
      crawl: 'VARCHAR',
      page: 'BIGINT',
      run: 'VARCHAR',
      operation: 'VARCHAR',
      params: 'JSON',
      carries: 'VARCHAR[]',
      "group": 'STRUCT(before BIGINT)',
      slot: 'BIGINT',
      received_at: 'TIMESTAMPTZ'
    }
  )
  where kind = 'page'
),
record as (
  select
    page.*,
    line.n,
    line.key as record_key,
    line.record,
    line.refusal,
    line.raw
  from read_json(
    $records,
    format = 'newline_delimited',
    maximum_object_size = $largest,
    columns = {
      task: 'VARCHAR',
      crawl: 'VARCHAR',
      page: 'BIGINT',
      n: 'BIGINT',
      key: 'VARCHAR',
      record: 'JSON',
      refusal: 'VARCHAR',
      raw: 'VARCHAR'
    }
  ) as line
  join page using (task, crawl, page)
),
