-- shape: wallet_balance, table: wallet_balances (a row of a wallet's balances)
-- grain: one row a mint of an answer; a record without a usable key is a row with key NULL and its text in `misfits`
-- guarantees: as shape asset; several records of one mint in one answer (token accounts, which the API does not name) are
--   summed, and stand in `extra.summed` as given. On two pages they are one that moved, as the list is ordered by value.
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
),
judged as (
  select
    *,
    case when not list_has_all(json_keys(known), keys) then json_merge_patch(record, known) end as unknown,
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
    end as own_misfits
  from valued
),
gathered as (
  select
    *,
    row_number() over mint as entry,
    count(*) over mint as entries,
    array_agg(record) over mint as records,
    array_agg(balance) over mint as balances,
    array_agg(usd_value) over mint as usd_values,
    array_agg(own_misfits) over mint as all_misfits
  from judged
  window mint as (
    partition by task, crawl, page, if(usable, r.mint, null), if(usable, null, n)
    order by n rows between unbounded preceding and unbounded following
  )
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
  -- Added in the order of size, so that the order of an answer does not move the last digit.
  case
    when entries = 1 then balance
    when not list_contains(list_transform(balances, lambda one: one is null), true)
      then coalesce(round(list_sum(list_sort(balances)), decimals), list_sum(list_sort(balances)))
  end as balance,
  decimals,
  price_per_token,
  case
    when entries = 1 then usd_value
    when not list_contains(list_transform(usd_values, lambda one: one is null), true)
      then list_sum(list_sort(usd_values))
  end as usd_value,
  nullif(r.logouri, '') as logo_uri,
  nullif(r.tokenprogram, '') as token_program,
  case
    when entries = 1 then unknown
    else json_merge_patch(coalesce(unknown, '{}'::json), json_object('summed', records))
  end as extra,
  flatten(all_misfits) as misfits
from gathered
where entry = 1
