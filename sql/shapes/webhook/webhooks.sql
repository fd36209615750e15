-- shape: webhook, table: webhooks (the webhook record)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: the secret is gone before the record lands: `has_auth_header` stands in its place
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "webhookID": "VARCHAR",
        "wallet": "VARCHAR",
        "webhookURL": "VARCHAR",
        "transactionTypes": "JSON",
        "accountAddresses": "JSON",
        "webhookType": "VARCHAR",
        "has_auth_header": "VARCHAR",
        "active": "VARCHAR"
      }'
    ) as r,
    -- The members that have a column.
    '{
      "webhookID": null, "wallet": null, "webhookURL": null, "transactionTypes": null,
      "accountAddresses": null, "webhookType": null, "has_auth_header": null, "active": null
    }'::json as known,
    json_keys(record) as keys
  from record
),
valued as (
  select
    *,
    (r.webhookid <> '') is true as usable,
    from_json(r.transactiontypes, '["VARCHAR"]') as transaction_types,
    from_json(r.accountaddresses, '["VARCHAR"]') as account_addresses,
    as_boolean(r.active) as active
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
  case when usable then lower(r.webhookid) end as webhook_id,
  nullif(r.wallet, '') as wallet,
  nullif(r.webhookurl, '') as webhook_url,
  transaction_types,
  account_addresses,
  r.webhooktype as webhook_type,
  coalesce(as_boolean(r.has_auth_header), false) as has_auth_header,
  active,
  case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable webhookID'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('transaction_types', r.transactiontypes, transaction_types),
        misfit('account_addresses', r.accountaddresses, account_addresses),
        misfit('active', r.active, active)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
