-- What the landing log and the checkpoints say of every crawl that still has lines in the log.
-- grain: one row a crawl (task, crawl)
-- $run: the run that publishes
-- state: `published` (nothing to do), `ready` (all its pages are in), `open`, `failed` (the API refused it),
--   `refused` (an audit did), `held` (a guard did, and somebody may accept it), `replaced` (one that was held, and that a
--   later crawl replaced), `superseded` (a later crawl of the target took its place)
-- ended: every page is in (`isEnded`, src/landing/reader.ts). What a checkpoint says counts too, where the pages have left the
--   log: sql/crawl/settled.sql
-- run_id: the run that received its last page, or that accepted it later
create or replace temp table crawl as
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
    end as kind,
    any_value(range) as range,
    coalesce(any_value(range).number || '/' || any_value(range).count, '') as range_name,
    max(end_reason) as end_reason,
    -- Slices of a batch have no order, and another crawl asks for other ids.
    if(count(*) filter (where kind = 'ids') = 0, any_value(content) filter (where page = 1), null) as first_content,
    max(reason) as failure,
    max(run) filter (where kind = 'accepted') as accepted_run
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
    -- The crawls of a feed follow each other down; none takes another's place, but for those of other parameters.
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
