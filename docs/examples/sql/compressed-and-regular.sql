-- How many assets are compressed, by collection and kind?
select
  collection,
  interface,
  count(*) as assets,
  count(*) filter (where compressed) as compressed,
  count(*) filter (where compressed is distinct from true) as regular,
  round(100 * count(*) filter (where compressed) / count(*), 1) as compressed_percent
from assets
where burnt is distinct from true
group by collection, interface
order by assets desc
limit 50;
