-- Crawls whose rows are in the tables, and that an audit refuses now: they stay as they are.
-- grain: one row a target
-- Tables `refused`, `crawl_state`: sql/publish/. A crawl that was refused before, and replaced by a later one, is left out.
select
  job,
  target,
  min(reason) as reason,
  null as guard,
  null as id,
  null as column,
  null as rows,
  null as total,
  null as examples,
  1::double as targets
from refused
join crawl_state using (task, crawl)
where exists (
  from meta.checkpoints as c
  where c.task = refused.task and c.crawl = refused.crawl and c.state = 'complete'
)
group by
  job,
  target
order by
  job,
  target
