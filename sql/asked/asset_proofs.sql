-- Asset proofs that the ready crawls requested by asset.
-- grain: one row a page and id
-- table: asset_proofs
-- answered in: asset_proofs
select
  a.task,
  a.crawl,
  a.page,
  a.id as key
from requested_id as a
join ready as r using (task, crawl)
where r.operation = 'getAssetProofBatch'
