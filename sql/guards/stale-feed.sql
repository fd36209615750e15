-- guard: stale
-- needs: ready where is_feed
-- A feed's newest answer is further below what is covered than a replica lags: the source went back.
-- grain: one row a crawl
-- `threshold`: warehouse.guards
with covered as (
  select job, target, max(high_slot) as slot
  from meta.coverage
  where state = 'covered'
  group by
    job,
    target
)
select
  r.task,
  r.crawl,
  r.job as accept_job,
  false as whole_job,
  null::varchar as table_name,
  null::varchar as column_name,
  c.slot - r.max_slot as rows,
  c.slot as total,
  []::varchar[] as examples,
  format('the newest answer is of slot {}, and slots up to {} are covered', r.max_slot, c.slot) as problem
from ready as r
join covered as c using (job, target)
cross join threshold as t
where r.is_feed
  and r.end_reason = 'unchanged'
  and r.max_slot < c.slot - t.lag_slots
