-- shape: wallet_identity, table: wallet_identities (the record of identity and batch-identity)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: the wallet is the one asked for, or in a batch the one the record names; `answered` is what the record names
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "address": "VARCHAR",
        "type": "VARCHAR",
        "name": "VARCHAR",
        "category": "VARCHAR",
        "tags": "JSON",
        "domainNames": "JSON"
      }'
    ) as r,
    -- The members that have a column.
    '{
      "address": null, "type": null, "name": null, "category": null, "tags": null, "domainNames": null
    }'::json as known,
    json_keys(record) as keys
  from record
),
valued as (
  select
    *,
    coalesce(params ->> '$.wallet', r.address) as wallet,
    (is_address(wallet) and json_type(record) = 'OBJECT') is true as usable,
    from_json(r.tags, '["VARCHAR"]') as tags,
    from_json(r.domainnames, '["VARCHAR"]') as domain_names
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
  nullif(r.address, '') as answered,
  r.type,
  r.name,
  r.category,
  tags,
  domain_names,
  case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as extra,
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
        misfit('tags', r.tags, tags),
        misfit('domain_names', r.domainnames, domain_names)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
