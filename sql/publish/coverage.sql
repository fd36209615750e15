-- The slots that each feed has covered, and those of them that the next round reads again, from meta.coverage, meta.read_again and
-- the pages of the landing log. Runs in one transaction with the other state files.
-- grain: `feed_page` one row a page of a feed; `new_coverage`, `new_read_again` one row an interval of a feed
--
-- 1. What is known: the intervals of meta.coverage; `page`, each page with the slot it was requested below (high_slot).
-- 2. What a page covers: from above its last record's slot up to high_slot. Slots are shared, so the next page may begin in the same
--    one. A page without a cursor is a head, the first page or one at which a crawl began again: it covers up to its answer's slot.
--    `covers` is false of pages that cover nothing: one from a replica that is behind its cursor; one whose slots do not descend, and
--    the one above it, whose last slot that may show to be wrong. Nor do pages of refused crawls. The gap keeps its cursor.
-- 3. Where a feed ends: a feed that ends covers down to slot 0, unless the end is doubtful (`doubtful_end`), because an earlier run
--    covered slots with records below its last record. Then it covers down to that record, and an empty page nothing. Nor does
--    another crawl's end count that the same feed reached in the same run.
-- 4. Gaps and islands: `covered` joins intervals that touch; between them are gaps, each with the cursor that leads into it.
-- 5. What is read again: the slots that a run's pages covered from their fresh_slot up, until pages of a later run cover the lowest
--    of them. Crawls go down, so by then the others were read too.
--
-- Answers of feeds by time have no slot: a head covers up to its newest record, other pages what they show.
-- A feed with other parameters is another task's, and begins anew. Cursors that were received before the source moved are dropped;
-- a gap that only they led to is begun at the head.
create or replace temp table rolled_back as
select job, target, max(max_slot) as slot
from ready
where is_feed and rolls_back
group by
  job,
  target;

-- The task that crawls a feed now.
create or replace temp table feed_task as
select job, target, max_by(task, crawl) as task
from crawl_state
where is_feed
group by
  job,
  target;

delete from meta.coverage
using feed_task as n
where meta.coverage.job = n.job and meta.coverage.target = n.target and meta.coverage.task is distinct from n.task;

delete from meta.read_again
using feed_task as n
where meta.read_again.job = n.job and meta.read_again.target = n.target and meta.read_again.task is distinct from n.task;

-- What was covered before a reset is to come again. Of a rebuild's steps, those before the reset do not know of it.
create or replace temp table forgotten_feed as
select name, max(first_run) as run
from refresh
where first_run <= (select coalesce(max(run_id), '~') from ready)
group by name;

delete from meta.coverage
using forgotten_feed as f
where f.name in (meta.coverage.job, meta.coverage.job || '/' || meta.coverage.target) and meta.coverage.run_id < f.run;

delete from meta.read_again
using forgotten_feed as f
where f.name in (meta.read_again.job, meta.read_again.job || '/' || meta.read_again.target) and meta.read_again.run_id < f.run;

create or replace temp table feed_page as
-- Pages that were received before the source went back cover no more than its slot then, as long as they are in the log.
with went_back as (
  select job, target, crawl, max_slot as slot
  from meta.checkpoints
  where kind = 'feed' and rolls_back
),
raw_page as (
  select
    job,
    target,
    task,
    crawl,
    page,
    run,
    records,
    cursor,
    next_cursor,
    cursor_group,
    end_reason,
    from_slot,
    slot,
    coalesce(by_time, false) as by_time,
    coalesce(descends, true) and coalesce(lead(descends) over (partition by task, crawl order by page), true) as is_in_order,
    last_slot,
    if(state = 'published', null, fresh_slot) as fresh_slot,
    (
      select min(b.slot)
      from went_back as b
      where b.job = landed.job and b.target = landed.target and b.crawl > landed.run
    ) as rolled_back_to,
    case
      when cursor is null then if(by_time, first_time, slot)
      when page = 1 then from_slot
      -- By time, pages at the head may have had no record.
      else coalesce(lag(last_slot) over (partition by task, crawl order by page), if(by_time, first_time, null))
    end as high_slot
  from landed
  join (select task, crawl, is_feed, state from crawl_state) using (task, crawl)
  semi join feed_task using (job, target, task)
  where kind = 'page' and is_feed and state not in ('refused', 'held', 'replaced')
    and not exists (
      from forgotten_feed as f
      where f.name in (landed.job, landed.job || '/' || landed.target) and landed.run < f.run
    )
),
page as (
  select * replace (if(by_time, high_slot, slot) as slot)
  from raw_page
),
-- The highest slot of each interval that was covered before an end was seen. A page counts only in runs after its own, so that a
-- replay, which has all pages together, decides the same.
known_interval as (
  select job, target, high_slot as slot, '' as run
  from meta.coverage
  where state = 'covered'
  union all
  select job, target, least(high_slot, rolled_back_to), run
  from page
  where is_in_order and slot >= high_slot and last_slot <= high_slot
),
-- Slots at or below which a feed had records. A feed by time is covered up to a record.
nonempty as (
  select job, target, high_slot as slot, '' as run
  from meta.coverage
  where state = 'covered' and unit = 'second'
  union all
  select job, target, min_slot as slot, crawl as run
  from meta.checkpoints
  where kind = 'feed' and records > 0
  union all
  select job, target, slot, run
  from page
  where records > 0
),
doubtful_end as (
  select task, crawl, page, job, target, run
  from page as p
  where end_reason = 'exhausted'
    and exists (
      from nonempty as f
      where f.job = p.job and f.target = p.target and f.run < p.run
        and (
          -- A head without a record, of a feed that had some, is doubtful at any slot.
          p.cursor is null and p.records = 0
          or exists (
            from known_interval as e
            where e.job = p.job and e.target = p.target and e.run < p.run
              and e.slot < coalesce(p.last_slot, p.high_slot)
              and f.slot <= e.slot
          )
        )
    )
),
bounded as (
  select
    p.*,
    case
      when end_reason is distinct from 'exhausted' then last_slot + 1
      when exists (from doubtful_end as d where d.task = p.task and d.crawl = p.crawl and d.page = p.page) then last_slot + 1
      when not exists (from doubtful_end as d where d.job = p.job and d.target = p.target and d.run = p.run) then 0
    end as low_slot
  from page as p
),
page_validity as (
  select
    *,
    is_in_order and coalesce(slot >= high_slot and low_slot <= high_slot + 1, false) as covers
  from bounded
)
select
  * replace (least(high_slot, rolled_back_to) as high_slot),
  coalesce(
    lead(covers and cursor is not null) over (partition by task, crawl order by page), false
  ) as is_answered
from page_validity;

create or replace temp table new_coverage as
with covering_interval as (
  select job, target, task, by_time, low_slot, high_slot, run
  from feed_page
  -- A page within one slot covers nothing: an empty island would split a gap.
  where covers and low_slot <= high_slot
  union all
  -- What was covered above the slot that the source went back to is to come again.
  select c.job, c.target, c.task, c.unit = 'second', c.low_slot, least(c.high_slot, b.slot) as high_slot, c.run_id
  from meta.coverage as c
  left join rolled_back as b using (job, target)
  where c.state = 'covered' and c.low_slot <= least(c.high_slot, b.slot)
),
-- Each interval once. Of two equal ones either might begin an island, and the other would join the island below.
distinct_interval as (
  select job, target, any_value(task) as task, any_value(by_time) as by_time, low_slot, high_slot, max(run) as run
  from covering_interval
  group by
    job,
    target,
    low_slot,
    high_slot
),
island_start as (
  select
    *,
    low_slot > max(high_slot) over (
      partition by job, target order by low_slot, high_slot rows between unbounded preceding and 1 preceding
    ) + 1 as begins
  from distinct_interval
),
island_member as (
  select
    *,
    sum(if(begins, 1, 0)) over (
      partition by job, target order by low_slot, high_slot rows unbounded preceding
    ) as island
  from island_start
),
covered as (
  select
    job,
    target,
    any_value(task) as task,
    any_value(by_time) as by_time,
    min(low_slot) as low_slot,
    max(high_slot) as high_slot,
    max(run) as run
  from island_member
  group by
    job,
    target,
    island
),
-- Where a feed can be continued, and by which cursor: after every page whose next page has not landed.
open_cursor as (
  select job, target, low_slot - 1 as high_slot, max_by(cursor_state, (run, page)) as cursor_state, max(run) as run
  from (
    select
      job,
      target,
      low_slot,
      case
        when run >= coalesce((select max(moved_by) from meta.source), '')
          then {'cursor': next_cursor, 'ends': cursor_group}
      end as cursor_state,
      run,
      page
    from feed_page
    where next_cursor is not null and low_slot is not null and not is_answered
    union all
    select
      job,
      target,
      high_slot + 1,
      if(cursor is null, null, {'cursor': cursor, 'ends': cursor_group}),
      run_id,
      0
    from meta.coverage
    where state = 'gap'
  )
  group by
    job,
    target,
    low_slot
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
feed as (
  select job, target, task, if(by_time, 'second', 'slot') as unit
  from feed_page
  union
  select job, target, task, unit
  from meta.coverage
),
gap as (
  -- The nearest cursor above a gap leads into it.
  select b.job, b.target, b.low_slot, b.high_slot, min_by(c.cursor_state, c.high_slot) as cursor_state, max(b.run) as run
  from between_islands as b
  left join open_cursor as c on c.job = b.job and c.target = b.target and c.high_slot >= b.high_slot
  where b.low_slot is not null and b.low_slot <= b.high_slot
  group by
    b.job,
    b.target,
    b.low_slot,
    b.high_slot
  union all
  -- Below everything covered, where a crawl was stopped on its way down.
  select c.job, c.target, 0, max(c.high_slot), max_by(c.cursor_state, c.high_slot), max(c.run)
  from open_cursor as c
  where c.high_slot >= 0
    and not exists (
      from covered as k
      where k.job = c.job and k.target = c.target and k.low_slot <= c.high_slot
    )
    -- Not below what the job asks for, as a crawl found that began it at the head.
    and not exists (
      from feed_page as f
      where f.job = c.job and f.target = c.target and f.from_slot = c.high_slot and f.end_reason = 'since'
    )
  group by
    c.job,
    c.target
)
select
  job,
  target,
  low_slot,
  high_slot,
  'covered' as state,
  null as cursor,
  run as run_id,
  task,
  if(by_time, 'second', 'slot') as unit,
  null as cursor_group
from covered
union all
select
  g.job,
  g.target,
  g.low_slot,
  g.high_slot,
  'gap',
  g.cursor_state.cursor,
  g.run,
  o.task,
  o.unit,
  g.cursor_state.ends
from gap as g
join feed as o using (job, target);

create or replace temp table new_read_again as
with fresh as (
  select job, target, task, greatest(fresh_slot, low_slot) as low_slot, high_slot, run as run_id
  from feed_page
  where covers and fresh_slot is not null
  union all
  select job, target, task, low_slot, least(high_slot, slot), run_id
  from meta.read_again
  left join rolled_back using (job, target)
),
by_run as (
  select job, target, task, run_id, min(low_slot) as low_slot, max(high_slot) as high_slot
  from fresh
  where low_slot <= high_slot
  group by
    job,
    target,
    task,
    run_id
)
select job, target, task, run_id, low_slot, high_slot
from by_run as b
where not exists (
  from feed_page as p
  where p.covers and p.task = b.task and p.run > b.run_id and b.low_slot between p.low_slot and p.high_slot
);

delete from meta.coverage;

insert into meta.coverage (
  job, target, low_slot, high_slot, state, cursor, run_id, task, unit, cursor_group
)
select job, target, low_slot, high_slot, state, cursor, run_id, task, unit, cursor_group
from new_coverage;

delete from meta.read_again;

insert into meta.read_again (job, target, low_slot, high_slot, run_id, task)
select job, target, low_slot, high_slot, run_id, task
from new_read_again;
