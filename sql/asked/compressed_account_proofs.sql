-- Proofs of compressed accounts that the ready crawls requested by hash.
-- grain: one row a page and hash
-- table: compressed_account_proofs
-- answered in: compressed_account_proofs
select
  task,
  crawl,
  1 as page,
  params ->> '$.hash' as key
from ready
where operation = 'getCompressedAccountProof'
