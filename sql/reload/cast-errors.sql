-- Deletes the quarantine entries of the reloaded crawls, and leaves in `ready` the crawls whose entries count: those that no later
-- full crawl of the target has replaced.
-- Tables `ready`: sql/reload/ready.sql, less what an audit refused; `cast_error_count`: sql/publish/cast-errors.sql
delete from meta.quarantine
where exists (from ready as r where r.task = meta.quarantine.task and r.crawl = meta.quarantine.crawl);

update meta.checkpoints set quarantined = coalesce(m.quarantined, 0), cast_errors = coalesce(m.counts, map {})
from ready as r
left join cast_error_count as m using (task, crawl)
where meta.checkpoints.task = r.task and meta.checkpoints.crawl = r.crawl and meta.checkpoints.state = 'complete'
  -- Of a crawl that a later one has replaced, not all records were read.
  and not (
    exists (from thinned as t where t.task = r.task and t.crawl = r.crawl)
    and exists (
      from meta.checkpoints as c
      where c.task = r.task and c.state = 'complete' and c.crawl > r.crawl
    )
  );

create or replace temp table ready as
select *
from ready as r
where is_feed
  or exists (
    from meta.checkpoints as c
    where c.task = r.task and c.crawl = r.crawl and c.state = 'complete'
  ) and not exists (
    from meta.checkpoints as c
    where c.job = r.job and c.target = r.target and c.range = r.range_name
      and c.state = 'complete' and c.kind = 'full' and c.crawl > r.crawl
  );
