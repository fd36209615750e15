-- Ids of the ready look-ups that rows of a table wait for, and whether the source did not know them. A replica that is
-- behind the crawl that missed the row confirms nothing.
-- grain: one row an id asked for
-- $table: the table. $operation: its look-up. Tables `asked`, `answered` (task, crawl, key)
create or replace temp table looked_up as
select
  a.id as key,
  r.operation as lookup,
  r.run_id,
  not exists (
    from answered as s
    -- An answer that cannot be told apart from the others ('') may be any of them.
    where s.task = a.task and s.crawl = a.crawl and s.key in (a.id, '')
  ) and coalesce(p.slot >= w.slot, true) as unknown
from asked as a
join ready as r using (task, crawl)
join landed as p on p.task = a.task and p.crawl = a.crawl and p.page = a.page and p.kind = 'page'
join meta.absent as w on w.table_name = $table and w.key = a.id
where r.job = '_confirm' and r.operation = $operation;
