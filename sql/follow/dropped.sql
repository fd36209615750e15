-- Targets with rows that no job requests any more, because a line of a target file, or a job file, is gone.
-- grain: one row a target
-- $listed: jobs whose targets are listed in files, because targets from SQL come and go. NULL: every job
select job, target, max(crawl) as crawl
from meta.checkpoints as c
where state = 'complete'
  and not starts_with(job, '_')
  and not exists (from meta.targets as t where t.job = c.job and t.target = c.target)
  and (
    $listed is null
    or list_contains($listed::varchar[], job)
    or not exists (from meta.jobs as j where j.job = c.job)
  )
group by job, target
having max(records) > 0
order by job, target
