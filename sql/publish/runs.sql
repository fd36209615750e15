-- The runs of the run log.
-- grain: one row a run
-- $runs: the runs as a JSON array
insert into meta.runs (run_id, verb, jobs, started_at, finished_at, exit_code, stopped_by)
select
  run.run,
  run.verb,
  run.jobs,
  run.startedat::timestamptz,
  run.finishedat::timestamptz,
  run.exitcode,
  run.stoppedby
from (
  select
    unnest(from_json(
      $runs,
      '[{
        "run": "VARCHAR",
        "verb": "VARCHAR",
        "jobs": ["VARCHAR"],
        "startedAt": "VARCHAR",
        "finishedAt": "VARCHAR",
        "exitCode": "INTEGER",
        "stoppedBy": "VARCHAR"
      }]'
    )) as run
)
