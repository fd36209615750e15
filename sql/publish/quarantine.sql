-- What the step's targets had in quarantine, and since which crawl.
create or replace temp table quarantined_before as
select
  c.job,
  c.target,
  q.table_name,
  coalesce(q.key, q.raw) as record,
  q.column_name,
  q.reason,
  min(q.first_crawl) as first_crawl
from meta.quarantine as q
join (
  select distinct task, job, target
  from meta.checkpoints
) as c using (task)
where exists (
  from offered as r
  where r.job = c.job and r.target = c.target and r.crawl > q.crawl
)
group by
  c.job,
  c.target,
  q.table_name,
  record,
  q.column_name,
  q.reason;

-- Deletes the quarantine entries that the ready crawls replace. A full crawl replaces all of its task and of the incremental crawls since
-- the last one. Incremental crawls and confirmations only add entries, because they see a part of the list.
delete from meta.quarantine
where exists (
  from ready as r
  where r.mode = 'full' and r.end_reason is distinct from 'unchanged'
    and (
      meta.quarantine.task = r.task
      or meta.quarantine.task in (
        select c.task
        from meta.checkpoints as c
        where c.kind = 'incremental' and c.job = r.job and c.target = r.target
      )
    )
);
