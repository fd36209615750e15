-- shape: token_account, table: token_accounts (the token account record of getTokenAccounts)
-- grain: one row a record; a record without a usable address is a row with address NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "address": "VARCHAR", "mint": "VARCHAR", "owner": "VARCHAR", "amount": "VARCHAR",
        "delegated_amount": "VARCHAR", "frozen": "VARCHAR", "burnt": "JSON", "delegate": "VARCHAR",
        "close_authority": "VARCHAR", "extensions": "JSON", "last_indexed_slot": "VARCHAR"
      }'
    ) as r,
    json_keys(record) as keys
  from record
),
valued as (
  select
    *,
    is_address(r.address) is true as usable,
    as_ubigint(r.amount) as amount,
    as_ubigint(r.delegated_amount) as delegated_amount,
    as_boolean(r.frozen) as frozen
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  coalesce(as_bigint(r.last_indexed_slot), page_slot) as slot,
  case when usable then r.address end as address,
  nullif(r.mint, '') as mint,
  nullif(r.owner, '') as owner,
  amount,
  delegated_amount,
  frozen,
  r.burnt,
  nullif(r.delegate, '') as delegate,
  nullif(r.close_authority, '') as close_authority,
  r.extensions,
  case
    when not list_has_all(
      [
        'address', 'mint', 'owner', 'amount', 'delegated_amount', 'frozen', 'burnt', 'delegate', 'close_authority',
        'extensions', 'last_indexed_slot'
      ],
      keys
    ) then json_merge_patch(
      record,
      '{"address": null, "mint": null, "owner": null, "amount": null, "delegated_amount": null, "frozen": null,
        "burnt": null, "delegate": null, "close_authority": null, "extensions": null, "last_indexed_slot": null}'
    )
  end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable address'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('slot', r.last_indexed_slot, as_bigint(r.last_indexed_slot)),
        misfit('amount', r.amount, amount),
        misfit('delegated_amount', r.delegated_amount, delegated_amount),
        misfit('frozen', r.frozen, frozen)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
