-- Who holds the assets of a collection, and how many each?
-- Here: the largest collection. Put an address in its place: where collection = '…'
select
  owner,
  count(*) as assets,
  count(*) filter (where compressed) as compressed
from assets
where burnt is distinct from true
  and owner is not null
  and collection = (select mode(collection) from assets)
group by owner
order by assets desc, owner
limit 20;
