-- The start of every shape: the records of one segment, each with its page.
-- grain: one row a record of the segment, refused ones included
-- $pages, $records: the segment's two files, or those of several segments; $largest: bytes of the longest line that may come in $records
-- $parts: in how many parts 2,048 lines are taken apart, since every function on JSON holds the text of as many
-- The structure that the record is read in: the members that the table's columns name where its header says
-- `-- forms: yes`, else JSON.
-- record is what was read, NULL when `refusal` says why DuckDB cannot read it, and `raw` is then its text; line is the
-- whole line, with the record's own text. form: what `form` knows of its keys; NULL in repaired lines, and where
-- forms are too many. digest: what tells the record's text (src/landing/record-digests.ts).
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
    page_ceiling(slot_ceiling, slot) as slot_ceiling,
    received_at as seen_at,
    records,
    forms,
    form_of,
    -- Each segment numbers its forms from 0; they are fewer than a million (src/landing/render-page.ts).
    1000000 * dense_rank() over (order by filename) as first_form,
    digests
  from read_json(
    $pages,
    format = 'newline_delimited',
    filename = true,
    records = true,
    maximum_object_size = 8388608,
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
      slot_ceiling: 'BIGINT',
      received_at: 'TIMESTAMPTZ',
      records: 'BIGINT',
      forms: 'STRUCT(form BIGINT, "like" VARCHAR)[]',
      form_of: 'BIGINT[]',
      digests: 'VARCHAR'
    }
  )
  where kind = 'page'
),
-- Records of one form have the same keys and kinds of values as `like`, a record with nothing in it.
form as (
  select first_form + told.form as form, told."like"::json as "like"
  from (select first_form, unnest(forms) as told from page)
),
place as (
  select
    * exclude (records, forms, form_of, first_form, digests),
    unnest(range(records)) as n,
    first_form + unnest(form_of) as form,
    unnest(digest_list(digests)) as digest
  from page
),
text as (
  -- The part is told by the line's head, which says the page and the record's number in it.
  select json, (hash(left(json, 160)) % $parts::ubigint)::bigint as part_of
  from read_ndjson_objects($records, maximum_object_size = $largest)
),
line as (
  select
    json,
    from_json(
      json,
      '{
        "task": "VARCHAR", "crawl": "VARCHAR", "page": "BIGINT", "n": "BIGINT", "key": "VARCHAR",
        "record": {record}, "refusal": "VARCHAR", "raw": "VARCHAR"
      }'
    ) as line
  from text, range($parts) as parts(part)
  -- Not an equality, which would be a join: chunks of 2,048 lines become several, each of the lines of one part.
  where part_of - part = 0
),
record as (
  select
    place.*,
    line.line.key as record_key,
    line.line.record as record,
    line.line.refusal as refusal,
    line.line.raw as raw,
    line.json as line
  from line
  join place
    on place.task = line.line.task
    and place.crawl = line.line.crawl
    and place.page = line.line.page
    and place.n = line.line.n
),
