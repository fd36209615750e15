-- The runs as of the snapshot, in the order they began.
-- grain: one row a run; the columns are those of data/runs.ndjson
select
  run_id as run,
  verb,
  jobs,
  started_at::varchar as "startedAt",
  finished_at::varchar as "finishedAt",
  exit_code as "exitCode",
  stopped_by as "stoppedBy"
from meta.runs
order by run_id
