-- shape: wallet_balance, table: wallet_balances (a row of a wallet's balances)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "mint": "VARCHAR",
        "symbol": "VARCHAR",
        "name": "VARCHAR",
        "balance": "VARCHAR",
        "decimals": "VARCHAR",
        "pricePerToken": "VARCHAR",
        "usdValue": "VARCHAR",
        "logoUri": "VARCHAR",
        "tokenProgram": "VARCHAR"
      }'
    ) as r,
    -- The members that have a column.
    '{
      "mint": null, "symbol": null, "name": null, "balance": null, "decimals": null,
      "pricePerToken": null, "usdValue": null, "logoUri": null, "tokenProgram": null
    }'::json as known,
    json_keys(record) as keys,
    params ->> '$.wallet' as wallet
  from record
),
valued as (
  select
    *,
    (is_address(wallet) and is_address(r.mint)) is true as usable,
    as_double(r.balance) as balance,
    as_integer(r.decimals) as decimals,
    as_double(r.pricepertoken) as price_per_token,
    as_double(r.usdvalue) as usd_value
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
  case when usable then wallet end as wallet,
  case when usable then r.mint end as mint,
  r.symbol,
  r.name,
  balance,
  decimals,
  price_per_token,
  usd_value,
  nullif(r.logouri, '') as logo_uri,
  nullif(r.tokenprogram, '') as token_program,
  case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable mint'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('balance', r.balance, balance),
        misfit('decimals', r.decimals, decimals),
        misfit('price_per_token', r.pricepertoken, price_per_token),
        misfit('usd_value', r.usdvalue, usd_value)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
