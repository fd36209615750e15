-- shape: priority_fee, table: priority_fees (the answer of getPriorityFeeEstimate)
-- grain: one row a record; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: request is what was asked; its hash names the series
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "priorityFeeEstimate": "VARCHAR",
        "priorityFeeLevels": {"min": "VARCHAR", "low": "VARCHAR", "medium": "VARCHAR", "high": "VARCHAR", "veryHigh": "VARCHAR", "unsafeMax": "VARCHAR"}
      }'
    ) as r,
    -- The members that have a column.
    '{
      "priorityFeeEstimate": null, "priorityFeeLevels": null
    }'::json as known,
    json_keys(record) as keys
  from record
),
valued as (
  select
    *,
    (json_type(record) = 'OBJECT') is true as usable,
    as_double(r.priorityfeeestimate) as estimate,
    as_double(r.priorityfeelevels.min) as level_min,
    as_double(r.priorityfeelevels.low) as level_low,
    as_double(r.priorityfeelevels.medium) as level_medium,
    as_double(r.priorityfeelevels.high) as level_high,
    as_double(r.priorityfeelevels.veryhigh) as level_very_high,
    as_double(r.priorityfeelevels.unsafemax) as level_unsafe_max
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
  case when usable then request_key end as request_key,
  params as request,
  from_json(params -> '$.accountKeys', '["VARCHAR"]') as account_keys,
  estimate,
  level_min,
  level_low,
  level_medium,
  level_high,
  level_very_high,
  level_unsafe_max,
  case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'is no estimate'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('estimate', r.priorityfeeestimate, estimate),
        misfit('level_min', r.priorityfeelevels.min, level_min),
        misfit('level_low', r.priorityfeelevels.low, level_low),
        misfit('level_medium', r.priorityfeelevels.medium, level_medium),
        misfit('level_high', r.priorityfeelevels.high, level_high),
        misfit('level_very_high', r.priorityfeelevels.veryhigh, level_very_high),
        misfit('level_unsafe_max', r.priorityfeelevels.unsafemax, level_unsafe_max)
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
