-- Forgets that an audit refused some crawls, so that publish looks at them again.
-- Table `crawl`: sql/publish/crawl.sql
delete from meta.checkpoints
where state = 'failed'
  and starts_with(reason, 'audit')
  and exists (
    from crawl as c
    where c.task = meta.checkpoints.task and c.crawl = meta.checkpoints.crawl and c.state = 'refused'
  )
