-- The records of a segment and their digests, by page.
-- grain: `received_page` one row a page, `received` one row a record; its end_offset identifies a page
-- $pages: the segment's page file
create or replace temp table received_page as
select
  end_offset,
  task,
  crawl,
  page,
  run as run_id,
  slot as page_slot,
  page_ceiling(slot_ceiling, slot) as slot_ceiling,
  received_at as seen_at,
  records,
  digests
from read_json(
  $pages,
  format = 'newline_delimited',
  records = true,
  maximum_object_size = 8388608,
  columns = {
    kind: 'VARCHAR',
    end_offset: 'BIGINT',
    task: 'VARCHAR',
    crawl: 'VARCHAR',
    page: 'BIGINT',
    run: 'VARCHAR',
    slot: 'BIGINT',
    slot_ceiling: 'BIGINT',
    received_at: 'TIMESTAMPTZ',
    records: 'BIGINT',
    digests: 'VARCHAR'
  }
)
where kind = 'page' and records > 0;
