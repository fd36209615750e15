-- The crawls that one step publishes: those that one run finished in one of its waves.
-- grain: one row a crawl
-- $run_id, $confirms (whether it is the job _confirm's), $wave: the step
-- Tables `crawl_state`: sql/publish/crawl-states.sql; `landed`: sql/publish/landed.sql; meta.checkpoints
-- rolls_back: somebody has accepted that its source went back to lower slots
-- run_started_at: when the first page of the crawl or of its run arrived
-- stand_in_slot: the slot of records that came without one: the least of the crawl's other pages, else the newest that the target was
-- ever crawled at; NULL if the source has no slots. The checkpoint has it, too.
create or replace temp table ready as
with step as (
  select *
  from crawl_state
  where state = 'ready'
    and run_id = $run_id
    and (job = '_confirm') = $confirms
    and wave is not distinct from $wave
),
newest as (
  select job, target, max(max_slot) as slot
  from meta.checkpoints
  where state = 'complete'
  group by
    job,
    target
)
select
  step.* replace (coalesce(step.min_slot, newest.slot) as min_slot, coalesce(step.max_slot, newest.slot) as max_slot),
  coalesce(step.min_slot, newest.slot) as stand_in_slot,
  least(step.started_at, (select min(received_at) from landed where run = $run_id)) as run_started_at,
  list_contains(list_transform(accepted, lambda finding: finding.guard), 'stale') as rolls_back
from step
left join newest using (job, target)
