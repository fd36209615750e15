-- shape: compressed_token_account, table: compressed_accounts (the `account` of the records of
--   getCompressedTokenAccountsByOwner)
-- grain: one row a record with a usable hash; the others are told by compressed_token_accounts
-- guarantees: as shape asset
parsed as (
  select
    *,
    record -> '$.account' as account,
    parsed_account(account) as r,
    json_keys(account, ['$', '$.data']) as keys
  from record
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
  list_filter(a.misfits, lambda entry: entry is not null) as misfits
from valued
where a.hash is not null
