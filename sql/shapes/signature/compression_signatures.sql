-- shape: signature, table: compression_signatures (the signature item of the three compression signature lists)
-- grain: one row a record; a record without a usable signature is a row with signature NULL
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(record, '{"signature": "VARCHAR", "slot": "VARCHAR", "blockTime": "VARCHAR"}') as r
  from record
),
valued as (
  select
    *,
    is_signature(r.signature) is true as usable,
    as_slot(r.slot, slot_ceiling) as tx_slot,
    as_time(r.blocktime) as block_time
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  page_slot as slot,
  case when usable then r.signature end as signature,
  tx_slot,
  block_time,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable signature'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [misfit('tx_slot', nullif(r.slot, '0'), tx_slot), misfit('block_time', r.blocktime, block_time)],
      lambda entry: entry is not null
    )
  end as misfits
from valued
