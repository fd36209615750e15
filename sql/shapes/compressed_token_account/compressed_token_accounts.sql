-- shape: compressed_token_account, table: compressed_token_accounts (the record of
--   getCompressedTokenAccountsByOwner: `account`, which goes to compressed_accounts, and `tokenData`)
-- grain: one row a record; a record without a usable hash is a row with hash NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    record ->> '$.account.hash' as account_hash,
    record -> '$.tokenData' as token,
    parsed_token(token) as t,
    json_keys(token) as keys
  from record
),
valued as (
  select
    *,
    is_address(account_hash) is true as usable,
    token_columns(token, t, keys) as v
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
  case when usable then account_hash end as hash,
  v.owner,
  v.mint,
  v.amount,
  v.delegate,
  v.state,
  v.tlv,
  extra_object(
    concat_ws(
      ',',
      case
        when not list_has_all(['account', 'tokenData'], json_keys(record))
          then unknown_members(record, '{"account": null, "tokenData": null}')
      end,
      object_member('tokenData', v.extra)
    )
  ) as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable hash'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [misplaced('tokenData', record -> '$.tokenData')] || v.misfits, lambda entry: entry is not null
    )
  end as misfits
from valued
