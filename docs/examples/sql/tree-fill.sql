-- How full is each Merkle tree, as far as its assets are known?
-- The depth is that of its proofs (job asset-proofs); a tree none of whose assets has one has no depth.
with depth as (
  select tree, max(len(proof)) as depth
  from asset_proofs
  group by tree
)
select
  a.tree,
  count(*) as leaves_known,
  max(a.leaf_id) + 1 as leaves_used_at_least,
  d.depth,
  power(2, d.depth)::bigint as capacity,
  round(100 * (max(a.leaf_id) + 1) / power(2, d.depth), 2) as used_percent
from assets as a
left join depth as d on d.tree = a.tree
where a.compressed and a.tree is not null
group by a.tree, d.depth
order by leaves_known desc;
