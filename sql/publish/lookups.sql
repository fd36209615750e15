-- What the ready crawls found out about rows that they asked for by key. A replica that is behind the row, or behind the
-- crawl that missed it, says nothing.
-- grain: one row a key of the table
-- found: a record came; certain: of a slot that no earlier miss contradicts; unknown: there is nothing under the key
-- slot: of the answer; as_of: the newest slot that its run had seen in answers of its shape, where it says none itself
-- {table}: the table; {key}: its key as one text. Table `lookup_answer` (task, crawl, page, key, answered)
create or replace temp table looked_up as
with page as (
  select
    task,
    crawl,
    page,
    received_at,
    slot,
    coalesce(slot, max(slot) over (partition by run, shape order by received_at)) as as_of
  from landed
  where kind = 'page'
),
answer as (
  select
    key,
    r as asking,
    a.answered,
    p.received_at,
    p.slot,
    p.as_of,
    coalesce(p.slot >= w.slot, true) as is_current,
    coalesce(p.slot >= w.slot, true) as is_certain,
    t.seen_at < p.received_at and coalesce(t.slot <= p.slot, true) as is_newer
  from lookup_answer as a
  join ready as r using (task, crawl)
  join page as p using (task, crawl, page)
  join (
    select {key} as key, slot, seen_at
    from {table} as t
  ) as t using (key)
  left join (
    select key, slot
    from meta.absent
    where table_name = '{table}'
  ) as w using (key)
)
select
  key,
  max(received_at) as at,
  max(slot) as slot,
  max(as_of) as as_of,
  max_by(asking, received_at) as asking,
  bool_or(answered and is_current) as found,
  bool_or(answered and is_certain) as certain,
  bool_and(not answered and is_current and is_newer) as unknown
from answer
group by key;
