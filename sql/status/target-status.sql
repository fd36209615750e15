-- How far every target is, from its checkpoints: sql/status/jobs.sql and targets.sql read it.
-- grain: one row a target
-- A target that is crawled in ranges of ids is complete when all of them are, and as far as the one that is least far.
-- state: of its latest crawls; held: received, and a guard waits for somebody to accept it
-- complete_as_of: all data of the target up to this slot is in: not of a crawl that none of whose records fitted, nor while
--   rows that it missed wait for an answer, nor where the source's slots are behind the rows'; of a feed, when its coverage begins at slot 0
-- changes_slot: changes up to this slot are in; says nothing of rows that left
-- quarantined: records of the latest crawl, or all that are in meta.quarantine when those are more
-- keyless: whole records among those that mention no key: each may be any row
-- stale: records of the latest crawl that are older than their rows by more than a replica lags
-- last_full: when its last full crawl ended
-- last_run: the last run that received something of it, or failed to
-- covered_from, covered_to: a feed's lowest and highest slot that are in; there may be gaps between them. Unix times where
--   covered_unit is second, which says nothing of slots
create or replace temp table target_status as
with part as (
  select
    *,
    coalesce(try_cast(split_part(range, '/', 2) as bigint), 1) as parts,
    last_value(split_part(range, '/', 2)) over every_crawl = split_part(range, '/', 2) as is_current
  from meta.checkpoints
  window every_crawl as (
    partition by job, target order by crawl rows between unbounded preceding and unbounded following
  )
),
latest as (
  -- The newest crawl of the target, or of each of the ranges it is crawled in now.
  select
    part.* replace (
      if(part.state = 'failed' and h.task is not null, 'held', part.state) as state
    )
  from part
  left join (
    select distinct task, crawl
    from meta.held
  ) as h using (task, crawl)
  where is_current
  qualify row_number() over (partition by job, target, range order by crawl desc, part.state = 'complete' desc) = 1
),
complete_part as (
  select
    job,
    target,
    parts,
    max(last_indexed_slot) filter (where kind <> 'incremental') as slot,
    max(last_indexed_slot) as changes_slot,
    bool_or(kind = 'incremental') as is_incremental,
    max(finished_at) as finished_at,
    max(finished_at) filter (where kind <> 'incremental') as full_at
  from part
  where state = 'complete' and (records = 0 or quarantined < records)
  group by
    job,
    target,
    parts,
    range
),
complete_whole as (
  select
    job,
    target,
    min(slot) as slot,
    min(changes_slot) as changes_slot,
    bool_or(is_incremental) as is_incremental,
    max(finished_at) as finished_at,
    min(full_at) as full_at
  from complete_part
  group by
    job,
    target,
    parts
  having count(*) = parts
),
complete as (
  -- Crawled whole once and in ranges another time, it is as far as the better of them.
  select
    job,
    target,
    max(slot) as slot,
    max(changes_slot) as changes_slot,
    bool_or(is_incremental) as is_incremental,
    max(finished_at) as finished_at,
    max(full_at) as full_at
  from complete_whole
  group by
    job,
    target
),
quarantined as (
  -- An incremental crawl did not look at what an earlier one found.
  select
    c.job,
    c.target,
    count(distinct (q.table_name, coalesce(q.key, q.raw))) as records,
    count(*) filter (where q.key is null and q.column_name is null) as keyless
  from meta.quarantine as q
  join (
    select job, target, task
    from part
    where is_current
    qualify row_number() over (partition by job, target, range, kind order by crawl desc) = 1
  ) as c using (task)
  group by
    c.job,
    c.target
),
covered as (
  select
    job,
    target,
    min(low_slot) as covered_from,
    max(high_slot) as covered_to,
    max(high_slot) filter (where low_slot = 0 and unit = 'slot') as complete_to,
    any_value(unit) as covered_unit
  from meta.coverage
  where state = 'covered'
  group by
    job,
    target
),
last_run as (
  select job, target, max(run_id) as last_run
  from meta.checkpoints
  group by
    job,
    target
),
unanswered as (
  select distinct job, target
  from meta.absent
  where null_run is null
),
now as (
  select
    job,
    target,
    bool_or(kind = 'feed') as is_feed,
    case
      when bool_or(state = 'failed') then 'failed'
      when bool_or(state = 'held') then 'held'
      when count(*) filter (where state = 'complete') = any_value(parts) then 'complete'
      else 'open'
    end as state,
    sum(pages)::bigint as pages,
    sum(records)::bigint as records,
    sum(quarantined)::bigint as quarantined,
    coalesce(sum(stale), 0)::bigint as stale,
    max(finished_at) as finished_at,
    coalesce(min(reason) filter (where state in ('failed', 'held')), min(reason)) as reason
  from latest
  group by
    job,
    target
)
select
  n.job,
  n.target,
  n.state,
  c.job is not null as was_complete,
  case when n.is_feed then k.complete_to when a.job is null and n.stale = 0 then c.slot end as complete_as_of,
  c.changes_slot,
  coalesce(c.is_incremental, false) as is_incremental,
  c.finished_at as last_complete,
  c.full_at as last_full,
  n.pages,
  n.records,
  greatest(n.quarantined, q.records) as quarantined,
  coalesce(q.keyless, 0) as keyless,
  n.stale,
  n.finished_at,
  n.reason,
  r.last_run,
  k.covered_from,
  k.covered_to,
  k.covered_unit
from now as n
join last_run as r using (job, target)
left join covered as k on n.is_feed and k.job = n.job and k.target = n.target
left join complete as c using (job, target)
left join quarantined as q using (job, target)
left join unanswered as a using (job, target)
