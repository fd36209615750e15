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
