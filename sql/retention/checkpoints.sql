-- Complete checkpoints that later ones of the same target have made superfluous, and those of targets that no job has now.
-- grain: one row a checkpoint
-- A checkpoint is as old as its run by this computer's clock; its other times are the answers'.
-- $before: those of runs before it; of a target that a job has, the newest of a range and kind always stays
-- $former_before: those of other targets, of runs before it
-- The targets of a job are known once it was read (meta.jobs). A job that is not there has no file; built-in jobs never have one.
with numbered as (
  select
    p.rowid as row_id,
    p.*,
    coalesce(r.started_at, p.finished_at, p.started_at) as run_at,
    row_number() over (
      partition by p.job, p.target, p.range, p.kind, p.state = 'complete'
      order by p.crawl desc
    ) as nth
  from meta.checkpoints as p
  left join meta.runs as r using (run_id)
)
select row_id, task, crawl
from numbered as p
where (state = 'complete' and nth > 1 and run_at < $before::timestamptz)
  or (
    run_at < $former_before::timestamptz
    and job not like '\_%' escape '\'
    and not exists (
      from meta.jobs as j
      where j.job = p.job and not j.is_read
    )
    and not exists (
      from meta.targets as t
      where t.job = p.job and t.target = p.target
    )
  )
