-- shape: wallet_transaction, table: wallet_transactions (the transaction history item of a wallet)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "signature": "VARCHAR",
        "slot": "VARCHAR",
        "timestamp": "VARCHAR",
        "fee": "VARCHAR",
        "feePayer": "VARCHAR",
        "error": "VARCHAR",
        "balanceChanges": "JSON"
      }'
    ) as r,
    -- The members that have a column.
    '{
      "signature": null, "slot": null, "timestamp": null, "fee": null, "feePayer": null, "error": null,
      "balanceChanges": null
    }'::json as known,
    json_keys(record) as keys,
    params ->> '$.wallet' as wallet
  from record
),
listed as (
  select
    *,
    case
      when json_type(r.balancechanges) = 'ARRAY'
        then from_json(r.balancechanges, '[{"mint": "VARCHAR", "amount": "VARCHAR", "decimals": "VARCHAR"}]')
    end as changes
  from parsed
),
valued as (
  select
    *,
    (is_address(wallet) and is_signature(r.signature)) is true as usable,
    as_bigint(r.slot) as tx_slot,
    as_time(r.timestamp) as timestamp,
    as_double(r.fee) as fee,
    list_transform(
      changes,
      lambda change: {
        'mint': nullif(change.mint, ''),
        'amount': as_double(change.amount),
        'decimals': as_integer(change.decimals)
      }
    ) as balance_changes
  from listed
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
  tx_slot,
  timestamp,
  fee,
  nullif(r.feepayer, '') as fee_payer,
  r.error,
  balance_changes,
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
        misfit('tx_slot', r.slot, tx_slot),
        misfit('timestamp', r.timestamp, timestamp),
        misfit('fee', r.fee, fee),
        misfit('balance_changes', r.balancechanges, balance_changes),
        odd_element('balance_changes', r.balancechanges, '$[*]', 'OBJECT'),
        case
          when len(
            list_filter(
              changes,
              lambda change: (change.amount is not null and as_double(change.amount) is null)
              or (change.decimals is not null and as_integer(change.decimals) is null)
            )
          ) > 0
            then {
              'column_name': 'balance_changes',
              'reason': 'has an element that does not fit',
              'raw': r.balancechanges::varchar
            }
        end
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
