-- Deletes refusals of audits and guards, so that publish checks their crawls again.
-- Table `crawl_state`: sql/publish/crawl-states.sql
delete from meta.checkpoints
where state = 'failed'
  and starts_with(reason, 'audit')
  and exists (
    from crawl_state as c
    where c.task = meta.checkpoints.task and c.crawl = meta.checkpoints.crawl and c.state = 'refused'
  );

delete from meta.refusals
where accepted_by is null
  and exists (
    from crawl_state as c
    where c.task = meta.refusals.task and c.crawl = meta.refusals.crawl and c.state in ('held', 'replaced')
  )
  -- A refused crawl that a later complete one has replaced stays out.
  and not exists (
    from meta.checkpoints as c
    where c.job = meta.refusals.job and c.target = meta.refusals.target and c.range = meta.refusals.range
      and c.state = 'complete' and c.crawl > meta.refusals.crawl
  );
