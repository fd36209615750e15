-- Slots that each feed has covered, after the pages of the landing log. Runs in one transaction with the other state files.
-- grain: one row an interval of a feed
-- A page covers from above its last record's slot (slots are shared: the next page may go on in it) up to the
-- slot its cursor stood at. A page without a cursor is a head, the first one or one that a crawl began again at: it
-- covers up to its answer's own slot. A page answered by a replica that is behind its cursor covers nothing, nor does one
-- whose slots do not go down, nor the one above it, whose last slot this may show to be wrong. The cursor stays that of
-- the gap they leave. Pages of crawls that were refused cover nothing either.
-- A feed that ends covers down to slot 0, unless that end is doubtful: what an earlier run covered, with records, lies
-- below its last record. Then it covers down to that record, an empty page nothing; nor does the end that another crawl
-- of the feed came to in the same run.
-- Answers of feeds that go by time say no slot: a head covers up to its newest record, other pages what they show.
-- A feed whose parameters changed is another task's, and begins anew.
-- Cursors that were received before the source moved are forgotten; a gap that only they led to is begun at the head.
create or replace temp table coverage as
with rolled_back as (
  select job, target, max(max_slot) as slot
  from ready
  where is_feed and rolls_back
  group by
    job,
    target
),
-- What crawls received before the source went back covers up to its slot then, as long as their pages are in the log.
went_back as (
  select job, target, crawl, max_slot as slot
  from meta.checkpoints
  where kind = 'feed' and rolls_back
),
-- The task that a feed is crawled by now.
current as (
  select job, target, max_by(task, crawl) as task
  from crawl_state
  where is_feed
  group by
    job,
    target
),
before as (
  select c.*
  from meta.coverage as c
  left join current as n using (job, target)
  where c.task = n.task or n.task is null
),
landed_page as (
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
    (
      select min(b.slot)
      from went_back as b
      where b.job = landed.job and b.target = landed.target and b.crawl > landed.run
    ) as most_slot,
    case
      when cursor is null then if(by_time, first_time, slot)
      when page = 1 then from_slot
      -- By time, pages at the head may have had no record.
      else coalesce(lag(last_slot) over (partition by task, crawl order by page), if(by_time, first_time, null))
    end as high_slot
  from landed
  semi join current using (job, target, task)
  where kind = 'page'
    and exists (
      from crawl_state as c
      where c.task = landed.task and c.crawl = landed.crawl and c.is_feed and c.state not in ('refused', 'held', 'replaced')
    )
),
page as (
  select * replace (if(by_time, high_slot, slot) as slot)
  from landed_page
),
-- What an end can be held against: `slot` is the highest of an interval. Pages count from the run after theirs on, so that
-- a replay, which has all of them at once, decides the same.
earlier as (
  select job, target, high_slot as slot, '' as run
  from before
  where state = 'covered'
  union all
  select job, target, least(high_slot, most_slot), run
  from page
  where is_in_order and slot >= high_slot and last_slot <= high_slot
),
-- Where a feed is known to have had records: at or below `slot`. What goes by time is covered up to a record.
filled as (
  select job, target, high_slot as slot, '' as run
  from before
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
doubtful as (
  select task, crawl, page, job, target, run
  from page as p
  where end_reason = 'exhausted'
    and exists (
      from filled as f
      where f.job = p.job and f.target = p.target and f.run < p.run
        and (
          -- A head without a record, of a feed that had some: whatever slot it says.
          p.cursor is null and p.records = 0
          or exists (
            from earlier as e
            where e.job = p.job and e.target = p.target and e.run < p.run
              and e.slot < coalesce(p.last_slot, p.high_slot)
              and f.slot <= e.slot
          )
        )
    )
),
placed as (
  select
    p.*,
    case
      when end_reason is distinct from 'exhausted' then last_slot + 1
      when exists (from doubtful as d where d.task = p.task and d.crawl = p.crawl and d.page = p.page) then last_slot + 1
      when not exists (from doubtful as d where d.job = p.job and d.target = p.target and d.run = p.run) then 0
    end as low_slot
  from page as p
),
judged as (
  select
    *,
    is_in_order and coalesce(slot >= high_slot and low_slot <= high_slot + 1, false) as covers
  from placed
),
followed as (
  select
    *,
    coalesce(
      lead(covers and cursor is not null) over (partition by task, crawl order by page), false
    ) as is_answered
  from judged
),
told as (
  select job, target, task, by_time, low_slot, least(high_slot, most_slot) as high_slot, run
  from followed
  -- A page that stays within the slot it was asked for in covers none: an island of no slots would split a gap.
  where covers and low_slot <= least(high_slot, most_slot)
  union all
  -- Of a source that went back, what stood above its slot then is to come again.
  select c.job, c.target, c.task, c.unit = 'second', c.low_slot, least(c.high_slot, b.slot) as high_slot, c.run_id
  from before as c
  left join rolled_back as b using (job, target)
  where c.state = 'covered' and c.low_slot <= least(c.high_slot, b.slot)
),
-- Each interval once: of two equal ones it would be chance which begins an island, and the other would join the
-- island below.
covering as (
  select job, target, any_value(task) as task, any_value(by_time) as by_time, low_slot, high_slot, max(run) as run
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
  select
    job,
    target,
    any_value(task) as task,
    any_value(by_time) as by_time,
    min(low_slot) as low_slot,
    max(high_slot) as high_slot,
    max(run) as run
  from numbered
  group by
    job,
    target,
    island
),
-- Where something is still to be asked for, and how: after every page whose cursor was not answered.
cursors as (
  select job, target, low_slot - 1 as high_slot, max_by(way, (run, page)) as way, max(run) as run
  from (
    select
      job,
      target,
      low_slot,
      case
        when run >= coalesce((select max(moved_by) from meta.source), '')
          then {'cursor': next_cursor, 'ends': cursor_group}
      end as way,
      run,
      page
    from followed
    where next_cursor is not null and low_slot is not null and not is_answered
    union all
    select
      job,
      target,
      high_slot + 1,
      if(cursor is null, null, {'cursor': cursor, 'ends': cursor_group}),
      run_id,
      0
    from before
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
  from page
  union
  select job, target, task, unit
  from before
),
gap as (
  -- The cursor that stands nearest above a gap leads into it.
  select b.job, b.target, b.low_slot, b.high_slot, min_by(c.way, c.high_slot) as way, max(b.run) as run
  from between_islands as b
  left join cursors as c on c.job = b.job and c.target = b.target and c.high_slot >= b.high_slot
  where b.low_slot is not null and b.low_slot <= b.high_slot
  group by
    b.job,
    b.target,
    b.low_slot,
    b.high_slot
  union all
  -- Below everything covered, where a crawl was stopped on its way down.
  select c.job, c.target, 0, max(c.high_slot), max_by(c.way, c.high_slot), max(c.run)
  from cursors as c
  where c.high_slot >= 0
    and not exists (
      from covered as k
      where k.job = c.job and k.target = c.target and k.low_slot <= c.high_slot
    )
    -- Begun at the head, it was found to lie below what the job asks for.
    and not exists (
      from followed as f
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
  g.way.cursor,
  g.run,
  o.task,
  o.unit,
  g.way.ends
from gap as g
join feed as o using (job, target);

delete from meta.coverage;

insert into meta.coverage (
  job, target, low_slot, high_slot, state, cursor, run_id, task, unit, cursor_group
)
select job, target, low_slot, high_slot, state, cursor, run_id, task, unit, cursor_group
from coverage;
