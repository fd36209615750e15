-- Which of the rows of a table that wait for a look-up the source did not know. A replica that is behind the crawl that
-- missed the row confirms nothing.
-- grain: one row an id asked for
-- $table: the table. $operation: its look-up. Tables `asked`, `answered` (task, crawl, key)
create or replace temp table looked_up as
with answer as (
  select
    a.id as key,
    r.operation as lookup,
    r.run_id,
    -- An answer that cannot be told apart from the others ('') may be about any of them.
    exists (
      from answered as s
      where s.task = a.task and s.crawl = a.crawl and s.key in (a.id, '')
    ) as answered,
    coalesce(p.slot >= w.slot, true) as current
  from asked as a
  join ready as r using (task, crawl)
  join landed as p on p.task = a.task and p.crawl = a.crawl and p.page = a.page and p.kind = 'page'
  join meta.absent as w on w.table_name = $table and w.key = a.id
  where r.job = '_confirm' and r.operation = $operation
)
select
  key,
  lookup,
  run_id,
  not answered and current as unknown
from answer;
