-- Which list each signature of new segments was seen in.
-- $files: staging files of segments that are not in yet
insert into compression_signature_sources (
  signature, source, address, slot, seen_at, first_seen_slot, changed_slot, run_id, record_hash
)
select
  signature,
  source,
  address,
  slot,
  seen_at,
  slot,
  slot,
  run_id,
  hash(signature, source, address)
from read_parquet($files) as s
where signature is not null
  and not exists (
    from compression_signature_sources as t
    where t.signature = s.signature and t.source = s.source and t.address = s.address
  )
qualify row_number() over (partition by signature, source, address order by seen_at, page, n) = 1;
