-- How far every job is: its targets together, without the former ones (sql/status/former.sql).
-- grain: one row a job
-- complete_as_of: all data of the job up to this slot is in; NULL while a target was never complete, or is a feed that
--   does not go back to slot 0
-- changes_seen_to: jobs with incremental crawls: changes up to this slot are in; says nothing of rows that left
-- last_full: when the last full crawl of the target that waited longest ended
-- empty: of the complete ones, those whose last full crawl brought no record: the address may be none
-- keyless: targets with records that mention no key
-- stale: targets with records that are older than their rows by more than a replica lags
-- covered_from, covered_to: of feeds, the slots that each of its targets covers, gaps between them aside; of wallets, of
--   which each is covered up to its newest record, NULL
select
  job,
  count(*) as targets,
  count(*) filter (where state = 'complete') as complete,
  count(*) filter (where state = 'complete' and records = 0 and not is_incremental and covered_to is null) as empty,
  count(*) filter (where state = 'open') as open,
  count(*) filter (where state = 'failed') as failed,
  count(*) filter (where state = 'held') as held,
  case when bool_and(was_complete and complete_as_of is not null) then min(complete_as_of) end as complete_as_of,
  case when bool_or(is_incremental) and bool_and(was_complete) then min(changes_slot) end as changes_seen_to,
  max(last_complete) as last_complete,
  min(last_full) as last_full,
  sum(quarantined)::bigint as quarantined,
  count(*) filter (where keyless > 0) as keyless,
  count(*) filter (where stale > 0) as stale,
  case when bool_and(covered_unit is not distinct from 'slot') and max(covered_from) <= min(covered_to) then max(covered_from) end
    as covered_from,
  case when bool_and(covered_unit is not distinct from 'slot') and max(covered_from) <= min(covered_to) then min(covered_to) end
    as covered_to
from target_status
anti join former using (job, target)
group by job
order by job
