-- shape: compressed_account, table: compressed_accounts (the record of getCompressedAccount and
--   getMultipleCompressedAccounts)
-- grain: one row a record; a record without a usable hash is a row with hash NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    parsed_account(record) as r,
    json_keys(record, ['$', '$.data']) as keys
  from record
),
valued as (
  select
    *,
    account_columns(record, r, keys) as a
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
  a.hash,
  a.address,
  a.owner,
  a.lamports,
  a.tree,
  a.leaf_index,
  a.seq,
  a.slot_created,
  a.discriminator,
  a.data,
  a.data_hash,
  extra_object(a.extra) as extra,
  case
    when a.hash is null then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable hash'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(a.misfits, lambda entry: entry is not null)
  end as misfits
from valued
