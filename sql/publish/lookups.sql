-- What the ready crawls found out about rows that they requested by key. An answer counts unless its replica is behind the row, or
-- behind the crawl that missed it; one without a slot counts, whenever the row was missed.
-- grain: one row a key of the table
-- found: a record came; unknown: every answer counts and says that the key does not exist
-- slot: of the answer; as_of_slot: that, or else the newest slot that its run had seen in answers of its shape
-- answered_at: when the last answer came; asking_crawl: the row of `ready` that requested it
-- {table}: the table; {key}: its key as one text. Table `lookup_answer` (task, crawl, page, key, answered)
create or replace temp table looked_up as
with page as (
  select
    task,
    crawl,
    page,
    received_at,
    slot,
    coalesce(slot, max(slot) over (partition by run, shape order by received_at)) as as_of_slot
  from landed
  where kind = 'page'
),
answer as (
  select
    key,
    ready as asking_crawl,
    lookup_answer.answered,
    page.received_at,
    page.slot,
    page.as_of_slot,
    coalesce(page.slot >= missed.slot, true) as is_current,
    stored.seen_at < page.received_at and coalesce(stored.slot <= page.slot, true) as is_newer
  from lookup_answer
  join ready using (task, crawl)
  join page using (task, crawl, page)
  join (
    select {key} as key, slot, seen_at
    from {table} as t
  ) as stored using (key)
  left join (
    select key, slot
    from meta.absent
    where table_name = '{table}'
  ) as missed using (key)
)
select
  key,
  max(received_at) as answered_at,
  max(slot) as slot,
  max(as_of_slot) as as_of_slot,
  max_by(asking_crawl, received_at) as asking_crawl,
  bool_or(answered and is_current) as found,
  bool_and(not answered and is_current and is_newer) as unknown
from answer
group by key;
