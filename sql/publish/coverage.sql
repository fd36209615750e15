-- Slots that each feed has covered, after the pages of the landing log.
-- grain: one row an interval of a feed
-- A page covers from above its last record's slot (slots are shared: the next page may go on in it) up to the
-- slot its cursor stood at; the first page up to its answer's own slot, or the slot of the gap it fills. A page
-- answered by a replica that is behind its cursor covers nothing.
create or replace temp table coverage as
with page as (
  select
    job,
    target,
    run,
    next_cursor,
    case when end_reason = 'exhausted' then 0 else last_slot + 1 end as low_slot,
    case
      when page = 1 then coalesce(from_slot, slot)
      else lag(last_slot) over (partition by task, crawl order by page)
    end as high_slot,
    slot,
    page = max(page) over (partition by task, crawl) and end_reason is null as goes_on
  from landed
  where kind = 'page'
    and exists (from crawl as c where c.task = landed.task and c.crawl = landed.crawl and c.is_feed)
),
told as (
  select job, target, low_slot, high_slot, run
  from page
  where slot >= high_slot and low_slot <= high_slot + 1
  union all
  select job, target, low_slot, high_slot, run_id
  from meta.coverage
  where state = 'covered'
),
-- Each interval once: of two equal ones it would be chance which begins an island, and the other would join the
-- island below.
covering as (
  select job, target, low_slot, high_slot, max(run) as run
  from told
  group by
    job,
    target,
    low_slot,
    high_slot
),
marked as (
  select
    *,
    low_slot > max(high_slot) over (
      partition by job, target order by low_slot, high_slot rows between unbounded preceding and 1 preceding
    ) + 1 as begins
  from covering
),
numbered as (
  select
    *,
    sum(if(begins, 1, 0)) over (
      partition by job, target order by low_slot, high_slot rows unbounded preceding
    ) as island
  from marked
),
covered as (
  select job, target, min(low_slot) as low_slot, max(high_slot) as high_slot, max(run) as run
  from numbered
  group by
    job,
    target,
    island
),
cursors as (
  select job, target, low_slot - 1 as high_slot, next_cursor as cursor, run
  from page
  where goes_on
  union all
  select job, target, high_slot, cursor, run_id
  from meta.coverage
  where state = 'gap'
),
between_islands as (
  select
    job,
    target,
    lag(high_slot) over (partition by job, target order by low_slot) + 1 as low_slot,
    low_slot - 1 as high_slot,
    run
  from covered
),
gap as (
  select b.job, b.target, b.low_slot, b.high_slot, any_value(c.cursor) as cursor, max(b.run) as run
  from between_islands as b
  left join cursors as c using (job, target, high_slot)
  where b.low_slot is not null and b.low_slot <= b.high_slot
  group by
    b.job,
    b.target,
    b.low_slot,
    b.high_slot
  union all
  -- Below everything covered, where a crawl was stopped on its way down.
  select c.job, c.target, 0, c.high_slot, any_value(c.cursor), max(c.run)
  from cursors as c
  where c.high_slot >= 0
    and not exists (
      from covered as k
      where k.job = c.job and k.target = c.target and k.low_slot <= c.high_slot
    )
  group by
    c.job,
    c.target,
    c.high_slot
)
select job, target, low_slot, high_slot, 'covered' as state, null as cursor, run as run_id
from covered
union all
select job, target, low_slot, high_slot, 'gap', cursor, run
from gap;
