-- The refusals that somebody names.
-- grain: one row a crawl and finding; of a refusal, what sql/publish/list-refused.sql shows comes first
-- $ids: ids of refusals
select
  r.id,
  r.task,
  r.crawl,
  r.guard,
  r.for_job,
  r.column_name,
  r.reason,
  h.id is not null as held
from meta.refusals as r
left join (
  select distinct task, crawl, id
  from meta.held
) as h using (task, crawl, id)
where r.id in (select unnest($ids::varchar[]))
order by
  r.whole_job = (count(distinct r.target) over (partition by r.id) > 1) desc,
  r.reason
