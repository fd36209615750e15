-- shape: signature, table: compression_signature_sources (which list a signature was seen in)
-- grain: one row a record with a usable signature; what does not fit is told by compression_signatures
named as (
  select
    *,
    record ->> '$.signature' as signature
  from record
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  page_slot as slot,
  signature,
  case operation
    when 'getLatestCompressionSignatures' then 'latest'
    when 'getCompressionSignaturesForTokenOwner' then 'owner'
    else 'address'
  end as source,
  coalesce(params ->> '$.owner', params ->> '$.address', '') as address,
  []::struct(column_name varchar, reason varchar, raw varchar)[] as misfits
from named
where is_signature(signature)
