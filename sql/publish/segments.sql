-- Records which segments are applied to the tables, and which of them are settled: no crawl of theirs is open, ready or held.
delete from meta.segments
where segment in (select segment from landed);

insert into meta.segments (segment, shape, pages, records, settled, published_at)
select
  l.segment,
  any_value(l.shape),
  count(*) filter (where l.kind = 'page'),
  coalesce(sum(l.records) filter (where l.kind = 'page'), 0)::bigint,
  coalesce(bool_and(c.state not in ('open', 'ready', 'held')), true),
  now()
from landed as l
left join crawl_state as c using (task, crawl)
group by l.segment;
