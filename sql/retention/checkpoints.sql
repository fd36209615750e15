-- Complete checkpoints that later ones of the same target have made superfluous, and those of targets that no job has now.
-- grain: one row a checkpoint
-- $before: those that finished before it; of a target that a job has, the newest of a range and kind always stays
-- $former_before: those of other targets that ended, or began, before it
-- Which targets a job has is known once it was read (meta.jobs); one that is not there has no file. Built-in jobs have none.
with placed as (
  select
    rowid as place,
    *,
    row_number() over (partition by job, target, range, kind, state = 'complete' order by crawl desc) as nth
  from meta.checkpoints
)
select place, task, crawl
from placed as p
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
