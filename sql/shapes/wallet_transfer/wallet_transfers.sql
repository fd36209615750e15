-- shape: wallet_transfer, table: wallet_transfers (a row of a wallet's transfers)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: position is exact also where a page ends in the middle of a signature: the page says how many came before it
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "signature": "VARCHAR",
        "timestamp": "VARCHAR",
        "direction": "VARCHAR",
        "counterparty": "VARCHAR",
        "mint": "VARCHAR",
        "symbol": "VARCHAR",
        "amount": "VARCHAR",
        "amountRaw": "VARCHAR",
        "decimals": "VARCHAR"
      }'
    ) as r,
    -- The members that have a column.
    '{
      "signature": null, "timestamp": null, "direction": null, "counterparty": null, "mint": null,
      "symbol": null, "amount": null, "amountRaw": null, "decimals": null
    }'::json as known,
    json_keys(record) as keys,
    params ->> '$.wallet' as wallet
  from record
),
valued as (
  select
    *,
    (is_address(wallet) and is_signature(r.signature)) is true as usable,
    as_time(r.timestamp) as timestamp,
    as_double(r.amount) as amount,
    as_ubigint(r.amountraw) as amount_raw,
    as_integer(r.decimals) as decimals
  from parsed
),
-- A transfer that cannot be read has its place too: once it can be, the others stay where they are.
named as (
  select *, nullif(coalesce(r.signature, regexp_extract(raw, '"signature" *: *"([^"]+)"', 1)), '') as of_signature
  from valued
),
placed as (
  select
    *,
    (
      row_number() over (partition by task, crawl, page, of_signature order by n) - 1
      + if(
        of_signature = first_value(of_signature ignore nulls) over (
          partition by task, crawl, page order by n rows between unbounded preceding and unbounded following
        ),
        group_before,
        0
      )
    )::integer as position
  from named
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
  case when usable then r.signature end as signature,
  position,
  timestamp,
  r.direction,
  nullif(r.counterparty, '') as counterparty,
  nullif(r.mint, '') as mint,
  r.symbol,
  amount,
  amount_raw,
  decimals,
  case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable signature'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('timestamp', r.timestamp, timestamp),
        misfit('amount', r.amount, amount),
        misfit('amount_raw', r.amountraw, amount_raw),
        misfit('decimals', r.decimals, decimals)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from placed
