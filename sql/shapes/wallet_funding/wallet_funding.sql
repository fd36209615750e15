-- shape: wallet_funding, table: wallet_funding (the answer of funded-by)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "funder": "VARCHAR",
        "funderName": "VARCHAR",
        "funderType": "VARCHAR",
        "mint": "VARCHAR",
        "symbol": "VARCHAR",
        "amount": "VARCHAR",
        "amountRaw": "VARCHAR",
        "decimals": "VARCHAR",
        "signature": "VARCHAR",
        "slot": "VARCHAR",
        "timestamp": "VARCHAR",
        "date": "VARCHAR",
        "explorerUrl": "VARCHAR"
      }'
    ) as r,
    -- The members that have a column.
    '{
      "funder": null, "funderName": null, "funderType": null, "mint": null, "symbol": null,
      "amount": null, "amountRaw": null, "decimals": null, "signature": null, "slot": null,
      "timestamp": null, "date": null, "explorerUrl": null
    }'::json as known,
    json_keys(record) as keys,
    params ->> '$.wallet' as wallet
  from record
),
valued as (
  select
    *,
    (is_address(wallet) and json_type(record) = 'OBJECT') is true as usable,
    as_double(r.amount) as amount,
    as_ubigint(r.amountraw) as amount_raw,
    as_integer(r.decimals) as decimals,
    as_bigint(r.slot) as tx_slot,
    as_time(r.timestamp) as timestamp
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
  nullif(r.funder, '') as funder,
  r.fundername as funder_name,
  r.fundertype as funder_type,
  nullif(r.mint, '') as mint,
  r.symbol,
  amount,
  amount_raw,
  decimals,
  nullif(r.signature, '') as signature,
  tx_slot,
  timestamp,
  r.date,
  nullif(r.explorerurl, '') as explorer_url,
  case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'is no record of a wallet'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('amount', r.amount, amount),
        misfit('amount_raw', r.amountraw, amount_raw),
        misfit('decimals', r.decimals, decimals),
        misfit('tx_slot', r.slot, tx_slot),
        misfit('timestamp', r.timestamp, timestamp)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
