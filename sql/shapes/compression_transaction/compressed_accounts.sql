-- shape: compression_transaction, table: compressed_accounts (the opened accounts in the answer of
--   getTransactionWithCompressionInfo, true at the slot they were created in)
-- grain: one row an opened account with a usable hash; what does not fit is told by compression_transaction_accounts
-- guarantees: as shape asset
opened as (
  select
    * exclude (record),
    unnest(
      coalesce(record -> '$.compressionInfo', record -> '$.compression_info') -> '$.openedAccounts[*].account'
    ) as account
  from record
),
parsed as (
  select
    *,
    parsed_account(account) as r,
    json_keys(account, ['$', '$.data']) as keys
  from opened
),
valued as (
  select
    *,
    account_columns(account, r, keys) as a
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  coalesce(plausible_slot(a.slot_created, slot_ceiling), page_slot) as slot,
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
  []::struct(column_name varchar, reason varchar, raw varchar)[] as misfits
from valued
where a.hash is not null
