-- What changed between two nights?
-- Here: between the latest run and the one before it. Put the ids of other runs (`ledgerlake runs`) in their place.
with night as (
  select
    max(run_id) as latest,
    coalesce(max(run_id, 2)[2], max(run_id)) as former
  from meta.runs
  where verb = 'run'
)
select
  coalesce(b.id, a.id) as id,
  case
    when a.id is null then 'new'
    when b.id is null then 'gone'
    when a.owner is distinct from b.owner then 'another owner'
    when a.burnt is distinct from b.burnt then 'burnt'
    else 'other columns'
  end as change,
  a.owner as former_owner,
  b.owner as owner,
  b.name
from assets_as_of_run((select former from night)) as a
full join assets_as_of_run((select latest from night)) as b using (id)
where a.record_hash is distinct from b.record_hash
order by change, id
limit 100;
