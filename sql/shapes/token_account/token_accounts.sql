-- shape: token_account, table: token_accounts (the token account record of getTokenAccounts)
-- grain: one row a record; a record without a usable address is a row with address NULL and its text in `misfits`
-- guarantees: as shape asset
told as (
  select form, is_known_token_account("like") as known from form
),
parsed as (
  select
    record.* exclude (record),
    record as r,
    -- Not coalesce, of which DuckDB computes parts for every record beforehand.
    case when told.known is null then is_known_token_account(json_extract(line, '$.record')) else told.known end as known
  from record
  left join told using (form)
),
valued as (
  select
    *,
    is_address(r.address) is true as usable,
    as_text(r.mint, line, '$.record.mint') as mint,
    as_text(r.owner, line, '$.record.owner') as owner,
    as_ubigint(r.amount) as amount,
    as_ubigint(r.delegated_amount) as delegated_amount,
    as_boolean(r.frozen) as frozen,
    as_slot(r.last_indexed_slot, slot_ceiling) as own_slot
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  digest,
  own_slot,
  coalesce(own_slot, page_slot) as slot,
  case when usable then r.address end as address,
  nullif(mint, '') as mint,
  nullif(owner, '') as owner,
  amount,
  delegated_amount,
  frozen,
  r.burnt,
  nullif(r.delegate, '') as delegate,
  nullif(r.close_authority, '') as close_authority,
  r.extensions,
  case
    when not known then json_merge_patch(line -> '$.record', token_account_members())
  end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable address'),
        'raw': coalesce(raw, nullif((line -> '$.record')::varchar, 'null'))
      }
    ]
    when unfit(nullif(r.last_indexed_slot, '0'), own_slot)
      or unfit(r.mint, mint)
      or unfit(r.owner, owner)
      or unfit(r.amount, amount)
      or unfit(r.delegated_amount, delegated_amount)
      or unfit(r.frozen, frozen)
      then list_filter(
        [
          misfit('slot', nullif(r.last_indexed_slot, '0'), own_slot),
          misfit('mint', r.mint, mint),
          misfit('owner', r.owner, owner),
          misfit('amount', r.amount, amount),
          misfit('delegated_amount', r.delegated_amount, delegated_amount),
          misfit('frozen', r.frozen, frozen)
        ],
        lambda entry: entry is not null
      )
    else []
  end as misfits
from valued
