-- Signatures of new segments that the table does not have. Of several answers with one signature, the first counts.
-- $files: staging files of segments that are not in yet
insert into compression_signatures (
  signature, tx_slot, block_time, slot, seen_at, first_seen_slot, changed_slot, run_id, record_hash
)
select
  signature,
  tx_slot,
  block_time,
  slot,
  seen_at,
  slot,
  slot,
  run_id,
  hash(signature, tx_slot, block_time)
from read_parquet($files) as s
where signature is not null
  and not exists (from compression_signatures as t where t.signature = s.signature)
qualify row_number() over (partition by signature order by seen_at, page, n) = 1;
