-- A digest of all that decides which rows are followed.
-- grain: one row
-- Table `chosen_target`: job and target of those that jobs have now
-- is_known: false while a job's targets were never read, or a target's parameters were never recorded (after a rebuild without the
-- run log, until the target is crawled again)
select
  bit_xor(hash(job, target, operation, params, ids)) as digest,
  (select bool_and(is_read) from meta.jobs) is true
  and not exists (
    select 1
    from meta.targets as t
    join meta.jobs as j using (job)
    join meta.checkpoints as c using (job, target)
    where j.follows
      and c.state = 'complete'
      and not exists (
        from meta.forgotten as f
        where f.name in (t.job, t.job || '/' || t.target) and f.run_id > c.crawl
      )
      and not exists (
        from meta.target_params as p
        where p.job = t.job and p.target = t.target
      )
  ) as is_known
from (
  select *
  from meta.target_params
  semi join chosen_target using (job, target)
)
