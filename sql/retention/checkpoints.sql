-- Complete checkpoints that later ones of the same target have made superfluous, and those of targets that no job has now.
-- grain: one row a checkpoint
-- $before: those that finished before it; of a target that a job has, the newest of a range and kind always stays
-- $former_before: those of other targets that ended, or began, before it
-- The targets of a job are known once it was read (meta.jobs). A job that is not there has no file; built-in jobs never have one.
with numbered as (
  select
    rowid as row_id,
    *,
    row_number() over (partition by job, target, range, kind, state = 'complete' order by crawl desc) as nth
  from meta.checkpoints
)
select row_id, task, crawl
from numbered as p
where (state = 'complete' and nth > 1 and finished_at < $before::timestamptz)
  or (
    coalesce(finished_at, started_at) < $former_before::timestamptz
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
