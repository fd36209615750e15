-- Every crawl that still has lines in the landing log, with its state by the log and the checkpoints.
-- grain: one row a crawl (task, crawl)
-- $run: the run that publishes
-- state, of several the first that holds:
--   1. `failed`: the API refused it
--   2. `superseded`: an open crawl of a feed whose parameters have changed since
--   3. `open`: any other open crawl of a feed; a feed's crawls continue each other, and none replaces another
--   4. `replaced`: a guard refused it, and it is not held any more (meta.held), because a later crawl took its place
--   5. `held`: a guard refused it, and nobody has accepted it since
--   6. `published`: it has a complete checkpoint, or a later crawl of the task has one (not of a feed)
--   7. `refused`: an audit refused it
--   8. `ready`: every page has landed
--   9. `superseded`: an earlier run's batch whose ids were never frozen, or a crawl that a later one of the target follows
--   10. `open`
-- ended: every page has landed (`isEnded`, src/landing/reader.ts). Pages that have left the log are known from their
--   checkpoint: sql/crawl/settled.sql
-- crawl, run_id, accepted_run, refused_run: runs. `crawl` is the one that began the crawl, `run_id` the one that received its
--   last page or accepted it
-- accepted: the guards' findings about the crawl that somebody lets pass; ahead: the slot that failed it, where that was too far ahead
-- mode: `full`, `incremental` or `feed`; frozen: the last slice of a batch's ids has landed
create or replace temp table crawl_state as
with grouped as (
  select
    task,
    crawl,
    any_value(job) as job,
    any_value(target) as target,
    any_value(operation) as operation,
    any_value(params) as params,
    any_value(shape) as shape,
    count(*) filter (where kind = 'page') as pages,
    coalesce(sum(records) filter (where kind = 'page'), 0)::bigint as records,
    min(slot) as min_slot,
    max(slot) as max_slot,
    min(received_at) as started_at,
    max(coalesce(received_at, failed_at)) as finished_at,
    max(run) as run_id,
    max_by(wave, received_at) as wave,
    count(distinct page) filter (where kind = 'ids') as slices,
    coalesce(bool_or(last), false) as frozen,
    coalesce(bool_or(feed), false) as is_feed,
    case
      when bool_or(feed) then 'feed'
      when bool_or(incremental) then 'incremental'
      else 'full'
    end as mode,
    any_value(range) as range,
    coalesce(any_value(range).number || '/' || any_value(range).count, '') as range_name,
    max(end_reason) as end_reason,
    -- Slices of a batch have no order, and each crawl requests other ids: their first page identifies nothing.
    if(count(*) filter (where kind = 'ids') = 0, any_value(content) filter (where page = 1), null) as first_content,
    max(reason) as failure,
    any_value(ahead) as ahead,
    max(run) filter (where kind = 'accepted') as accepted_run,
    coalesce(list(finding) filter (where finding is not null), []) as accepted
  from landed
  where kind <> 'forgotten'
  group by
    task,
    crawl
)
select
  g.*,
  case when slices > 0 then frozen and pages = slices else end_reason is not null end as ended,
  case
    when failure is not null then 'failed'
    when is_feed and not ended and exists (
      from grouped as later
      where later.job = g.job and later.target = g.target and later.task <> g.task and later.crawl > g.crawl
    ) then 'superseded'
    when is_feed and not ended then 'open'
    when refused_run is not null and not is_held then 'replaced'
    when refused_run is not null and coalesce(accepted_run <= refused_run, true) then 'held'
    when exists (
      from meta.checkpoints as c
      where c.task = g.task and c.state = 'complete'
        and (c.crawl = g.crawl or not g.is_feed and c.crawl > g.crawl)
    ) then 'published'
    when refused_run is null and exists (
      from meta.checkpoints as c
      where c.task = g.task and c.state = 'failed' and c.crawl = g.crawl
    ) then 'refused'
    when ended then 'ready'
    when slices > 0 and not frozen and crawl <> $run then 'superseded'
    when exists (
      from grouped as later
      where later.job = g.job and later.target = g.target and later.crawl > g.crawl
        and (later.range_name = g.range_name or later.range.count is distinct from g.range.count)
    ) then 'superseded'
    else 'open'
  end as state
from grouped as g
left join (
  select r.task, r.crawl, max(r.run_id) as refused_run, bool_or(h.crawl is not null) as is_held
  from meta.refusals as r
  left join meta.held as h on h.task = r.task and h.crawl = r.crawl
  where r.accepted_by is null
  group by
    r.task,
    r.crawl
) using (task, crawl);
