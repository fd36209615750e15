-- Who held the assets of each collection as of last night?
-- Here: the night before the latest run. Put the id of another run (`ledgerlake runs`) in the place of the first query.
with night as (
  select coalesce(max(run_id, 2)[2], max(run_id)) as run
  from meta.runs
  where verb = 'run'
)
select collection, owner, count(*) as assets
from assets_as_of_run((select run from night))
where collection is not null and owner is not null and burnt is not true
group by collection, owner
order by assets desc, collection, owner
limit 100;
