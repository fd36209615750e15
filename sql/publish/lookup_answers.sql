-- Rows of a table that the ready crawls asked for by key: those that no record came for, and those that wait in
-- `meta.absent`.
-- grain: one row a page and key
-- {table}: the table; {key}: its key as one text
-- Tables `requested_key` (task, crawl, page, key), `answered_key` (task, crawl, key)
create or replace temp table lookup_answer as
with found as (
  select distinct task, crawl, key
  from answered_key
),
-- A record that cannot be told apart from the others ('') may be any of them.
blurred as (
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
  left join blurred as b using (task, crawl)
)
select *
from answer
where (not answered or key in (select w.key from meta.absent as w where w.table_name = '{table}'))
  and key in (select {key} from {table} as t);
