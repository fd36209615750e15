-- Brings the checkpoints up to what this step publishes. Runs in one transaction with the other state files.

-- A first page that was not newer confirms the task's last complete checkpoint. An incremental task may have none yet,
-- where it is the full crawl that nothing is newer than: it gets one of its own.
create or replace temp table new_checkpoint as
select *
from ready as r
where end_reason is distinct from 'unchanged'
  -- Publish knows by its checkpoint that a crawl of a feed is in, so each has its own.
  or is_feed
  or not exists (
    from meta.checkpoints as c
    where c.task = r.task and c.state = 'complete'
  );

update meta.checkpoints set finished_at = r.finished_at, run_id = r.run_id, crawl = r.crawl
from ready as r
where not exists (from new_checkpoint as a where a.task = r.task and a.crawl = r.crawl)
  and meta.checkpoints.task = r.task
  and meta.checkpoints.state = 'complete'
  and meta.checkpoints.crawl = (
    select max(c.crawl)
    from meta.checkpoints as c
    where c.task = r.task and c.state = 'complete'
  );

-- One checkpoint a task and slot; a feed has one for each crawl.
delete from meta.checkpoints
where state = 'complete'
  and exists (
    from new_checkpoint as a
    where a.task = meta.checkpoints.task
      and not a.is_feed
      and a.min_slot is not distinct from meta.checkpoints.last_indexed_slot
  );

insert into meta.checkpoints (
  job, target, range, kind, last_indexed_slot, state, min_slot, max_slot, pages, records, quarantined, started_at,
  finished_at, run_id, task, crawl, reason, first_content, rolls_back, stale, cast_errors
)
select
  job,
  target,
  range_name,
  mode,
  min_slot,
  'complete',
  min_slot,
  max_slot,
  pages,
  records,
  coalesce(quarantined, 0),
  started_at,
  finished_at,
  run_id,
  task,
  crawl,
  end_reason,
  first_content,
  rolls_back,
  if(rolls_back, 0, coalesce(older.rows, 0)),
  coalesce(counts, map {})
from new_checkpoint
left join cast_error_count using (task, crawl)
left join (
  select task, crawl, max(far_rows) as rows
  from older_count
  group by
    task,
    crawl
) as older using (task, crawl)
qualify row_number() over (partition by task, min_slot, if(is_feed, crawl, null) order by crawl desc) = 1;

-- A list whose source went back is complete up to the slot it went back to, whatever was complete before: the whole list or
-- ranges of it, full or incremental.
update meta.checkpoints set last_indexed_slot = r.slot
from (
  select job, target, min(min_slot) as slot, max(crawl) as crawl
  from ready
  where rolls_back and not is_feed
  group by
    job,
    target
) as r
where meta.checkpoints.state = 'complete'
  and meta.checkpoints.job = r.job
  and meta.checkpoints.target = r.target
  and meta.checkpoints.crawl < r.crawl
  and meta.checkpoints.last_indexed_slot > r.slot;

-- Reasons and counts of failed crawls that are still in the log, from the publish before.
create or replace temp table former_failure as
select task, crawl, reason, quarantined
from meta.checkpoints
where state = 'failed';

-- At most one open or failed checkpoint a target (or range of one): its latest crawl, when that is not complete.
delete from meta.checkpoints
where state in ('open', 'failed')
  and exists (
    from crawl_state as c
    where c.job = meta.checkpoints.job and c.target = meta.checkpoints.target
      and (
        c.range_name = meta.checkpoints.range
        or c.range.count is distinct from try_cast(split_part(meta.checkpoints.range, '/', 2) as bigint)
      )
  );

insert into meta.checkpoints (
  job, target, range, kind, last_indexed_slot, state, min_slot, max_slot, pages, records, quarantined, started_at,
  finished_at, run_id, task, crawl, reason
)
select
  job,
  target,
  range_name,
  mode,
  null,
  if(state = 'open', 'open', 'failed'),
  min_slot,
  max_slot,
  pages,
  records,
  coalesce(m.quarantined, former_failure.quarantined, 0),
  started_at,
  if(state = 'open', null, finished_at),
  run_id,
  task,
  crawl,
  coalesce(failure, refusal, former_failure.reason)
from crawl_state
left join (
  select task, crawl, min(reason) as refusal
  from refused
  group by task, crawl
) using (task, crawl)
left join cast_error_count as m using (task, crawl)
left join former_failure using (task, crawl)
where state in ('open', 'failed', 'refused', 'held')
  -- A later crawl that is complete has taken its place, unless it is a feed's.
  and (is_feed or not exists (
    from meta.checkpoints as c
    where c.job = crawl_state.job and c.target = crawl_state.target and c.range = crawl_state.range_name
      and c.state = 'complete' and c.crawl > crawl_state.crawl
  ))
qualify row_number() over (partition by job, target, range_name order by crawl desc) = 1;
