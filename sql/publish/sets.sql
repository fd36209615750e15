-- Which answer a set's rows are taken from, where answers disagree about it: the rows of one set (the transfers of a signature) are
-- numbered by position, so rows of two answers must not be mixed.
-- grain: `set_answer` one row a disputed set and answer: a crawl's, or the table's own rows (task NULL)
-- $files: the staging files of all crawls that are applied
-- {table}: the table; {set}: the key without the position; {group}: the last of these, by which pages are cut.
-- Tables `disputed_set`: src/publish/replace-sets.ts; `landed`, `refreshing`: src/publish/crawl-tables.ts
-- best: the answer that stands. An answer that shows the whole set goes before one that a page or the end of its crawl cut; one of a
-- full refresh before what was there; else the first of those with the most rows, because a replica that lacks a row, or a night
-- whose values are wrong, proves nothing.
create or replace temp table set_answer as
with last_page as (
  select
    task,
    crawl,
    max_by(cursor_group ->> '$.last', page) as cut_group,
    max_by(end_reason, page) as end_reason
  from landed
  where kind = 'page'
  group by
    task,
    crawl
),
staged as (
  select
    {set},
    task,
    crawl,
    count(distinct position) as rows,
    min(position) = 0 and max(position) + 1 = count(distinct position) as is_joined,
    max(seen_at) as seen_at
  from {rows}
  semi join disputed_set using ({set})
  group by
    {set},
    task,
    crawl
),
stored as (
  select {set}, count(*) as rows, max(seen_at) as seen_at, min(run_id) as run_id
  from {table}
  semi join disputed_set using ({set})
  group by {set}
),
answer as (
  select
    {set},
    task,
    crawl,
    s.rows,
    s.seen_at,
    is_joined and (end_reason is not distinct from 'exhausted' or cut_group is distinct from s.{group}) as is_whole,
    coalesce(since > stored.run_id, false) as is_refresh
  from staged as s
  left join last_page using (task, crawl)
  left join refreshing using (task, crawl)
  left join stored using ({set})
  union all
  select {set}, null, null, rows, seen_at, true, false
  from stored
)
select
  *,
  row_number() over (
    partition by {set}
    order by is_whole desc, is_refresh desc, rows desc, task is not null, seen_at, task, crawl
  ) = 1 as best
from answer;
