-- Newer crawls of some targets that a guard holds back.
-- grain: one row a refusal
-- $targets: `job/target` of each
select
  job,
  target,
  guard,
  id,
  reason,
  run_id as run
from meta.held
where job || '/' || target in (select unnest($targets))
order by
  job,
  target
