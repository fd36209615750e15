-- Rows of a table that the ready crawls requested by key: those that no record came for, and those in `meta.absent`.
-- grain: one row a page and key
-- {table}: the table; {key}: its key as one text
-- Tables `requested_key` (task, crawl, page, key), `answered_key` (task, crawl, key)
create or replace temp table lookup_answer as
with found as (
  select distinct task, crawl, key
  from answered_key
),
-- A record without a key ('') may be any of the requested ones.
any_key as (
  select distinct task, crawl
  from found
  where key = ''
),
answer as (
  select
    a.*,
    f.task is not null or b.task is not null as answered
  from requested_key as a
  left join found as f using (task, crawl, key)
  left join any_key as b using (task, crawl)
)
select *
from answer
where (not answered or key in (select m.key from meta.absent as m where m.table_name = '{table}'))
  and key in (select {key} from {table} as t);
