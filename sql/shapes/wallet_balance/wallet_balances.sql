-- shape: wallet_balance, table: wallet_balances
-- after: mapped
-- guarantees: several records of one mint in one answer (token accounts, which the API does not name) are summed, and stand in
--   `extra.summed` as given. On two pages they are one that moved, as the list is ordered by value.
gathered as (
  select
    *,
    row_number() over mint as entry,
    count(*) over mint as entries,
    array_agg(record) over mint as records,
    array_agg(balance) over mint as balances,
    array_agg(usd_value) over mint as usd_values,
    array_agg(cast_errors) over mint as all_errors
  from mapped
  window mint as (
    partition by task, crawl, page, mint, if(usable, null, n)
    order by n rows between unbounded preceding and unbounded following
  )
),
summed as (
  select
    * replace (
      -- Added in the order of size, so that the order of an answer does not move the last digit.
      case
        when entries = 1 then balance
        when not list_contains(list_transform(balances, lambda one: one is null), true)
          then coalesce(round(list_sum(list_sort(balances)), decimals), list_sum(list_sort(balances)))
      end as balance,
      case
        when entries = 1 then usd_value
        when not list_contains(list_transform(usd_values, lambda one: one is null), true)
          then list_sum(list_sort(usd_values))
      end as usd_value,
      case
        when entries = 1 then extra
        else json_merge_patch(coalesce(extra, '{}'::json), json_object('summed', records))
      end as extra,
      flatten(all_errors) as cast_errors
    )
  from gathered
  where entry = 1
),
