-- shape: compression_transaction, table: compression_transaction_accounts (the accounts in the answer of
--   getTransactionWithCompressionInfo)
-- grain: one row an account that the transaction opened or closed; one without a usable hash is a row with hash
--   NULL and its text in `misfits`
-- guarantees: as shape asset
changed as (
  select
    * exclude (record),
    coalesce(record -> '$.compressionInfo', record -> '$.compression_info') as info,
    unnest(
      [
        {'change': 'opened', 'elements': info -> '$.openedAccounts[*]'},
        {'change': 'closed', 'elements': info -> '$.closedAccounts[*]'}
      ]
    ) as changes,
    coalesce(
      page_slot,
      as_bigint(record ->> '$.transaction.slot'),
      list_max(list_transform(info ->> '$.openedAccounts[*].account.slotCreated', lambda text: as_bigint(text)))
    ) as slot
  from record
  where json_type(record) = 'OBJECT'
),
element as (
  select
    * exclude (changes),
    changes.change as change,
    unnest(changes.elements) as element,
    generate_subscripts(changes.elements, 1) - 1 as position
  from changed
),
parsed as (
  select
    *,
    element -> '$.account' as account,
    element -> '$.optionalTokenData' as token,
    parsed_account(account) as r,
    json_keys(account, ['$', '$.data']) as keys,
    parsed_token(token) as t,
    json_keys(token) as token_keys
  from element
),
valued as (
  select
    *,
    account_columns(account, r, keys) as a,
    token_columns(token, t, token_keys) as v
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  slot,
  params ->> '$.signature' as signature,
  change,
  a.hash,
  position,
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
  v.owner as token_owner,
  v.mint,
  v.amount,
  v.delegate,
  v.state,
  v.tlv,
  extra_object(
    concat_ws(
      ',',
      object_member('account', a.extra),
      object_member('optionalTokenData', v.extra),
      case
        when not list_has_all(['account', 'optionalTokenData'], json_keys(element))
          then unknown_members(element, '{"account": null, "optionalTokenData": null}')
      end
    )
  ) as extra,
  case
    when a.hash is null then [
      {'column_name': null::varchar, 'reason': 'no usable hash', 'raw': element::varchar}
    ]
    else list_filter(
      [misplaced('optionalTokenData', element -> '$.optionalTokenData')] || a.misfits || v.misfits,
      lambda entry: entry is not null
    )
  end as misfits
from valued
