-- Records what the guards refused in this step, and that an earlier refusal was accepted, once its crawl is in.
-- Runs in one transaction with the other state files.
-- $ids, $runs: the refusals that were accepted, and the runs that accepted them, in one order
-- Tables `refused`: src/publish/guards.ts; `crawl_state`, `ready`: sql/publish/crawl-states.sql
update meta.refusals set accepted_by = r.run_id
from ready as r
where meta.refusals.task = r.task and meta.refusals.crawl = r.crawl and meta.refusals.accepted_by is null;

delete from meta.refusals
where accepted_by is null
  and exists (from refused as r where r.task = meta.refusals.task and r.crawl = meta.refusals.crawl);

insert into meta.refusals (
  run_id, job, target, range, guard, id, for_job, whole_job, table_name, column_name, rows, total, examples, reason, task,
  crawl, refused_at
)
select
  c.run_id,
  c.job,
  c.target,
  c.range_name,
  r.guard,
  r.id,
  r.for_job,
  r.whole_job,
  r.table_name,
  r.column_name,
  r.rows,
  r.total,
  coalesce(r.examples, []),
  r.reason,
  task,
  crawl,
  c.finished_at
from refused as r
join crawl_state as c using (task, crawl)
where r.guard is not null;

-- A slot that was too far ahead has failed its crawl, so that there is nothing to hold back.
insert into meta.refusals (
  run_id, job, target, range, guard, id, for_job, whole_job, rows, total, examples, reason, task, crawl, refused_at
)
select
  run_id,
  job,
  target,
  range_name,
  'ahead',
  ahead.refusal,
  job,
  false,
  ahead.slot - ahead.ceiling,
  ahead.slot,
  [],
  failure,
  task,
  crawl,
  finished_at
from crawl_state
where ahead is not null
  and not exists (
    from meta.refusals as r
    where r.task = crawl_state.task and r.crawl = crawl_state.crawl
  );

update meta.refusals set accepted_by = a.run_id
from (select unnest($ids::varchar[]) as id, unnest($runs::varchar[]) as run_id) as a
where meta.refusals.guard = 'ahead' and meta.refusals.id = a.id and meta.refusals.accepted_by is null;
