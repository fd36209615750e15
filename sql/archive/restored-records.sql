-- The lines of an archived segment's record file as they stood in the landing log. A page whose records are kept
-- with another page gets them under its own head, as src/landing/writer.ts wrote it.
-- grain: one row a record, in the file's order
-- $files: the archived record files that its pages refer to. Table `restored_page`: sql/archive/restored-pages.sql
with kept as (
  select
    regexp_extract(filename, '(\d+)\.parquet$', 1)::bigint as kept_segment,
    task as kept_task,
    crawl as kept_crawl,
    page as kept_page,
    n,
    line
  from read_parquet($files, filename = true)
)
select
  if(
    k.kept_task = p.task and k.kept_crawl = p.crawl and k.kept_page = p.page,
    k.line,
    '{"task":"' || p.task || '","crawl":"' || p.crawl || '","page":' || p.page || ',"slot":' || coalesce(p.slot, 'null')
    || ',"n":' || k.n || regexp_extract(k.line, '^\{"task":"[^"]*","crawl":"[^"]*","page":\d+,"slot":[^,]*,"n":\d+(.*)$', 1, 's')
  ) as line
from restored_page as p
join kept as k using (kept_segment, kept_task, kept_crawl, kept_page)
order by p.end_offset, k.n
