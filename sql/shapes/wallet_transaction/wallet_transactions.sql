-- shape: wallet_transaction, table: wallet_transactions
-- after: record
-- cast errors: own_errors
listed as (
  select
    *,
    nullif(record -> '$.balanceChanges', 'null'::json) as listed_changes,
    case
      when json_type(listed_changes) = 'ARRAY'
        then from_json(listed_changes, '[{"mint": "VARCHAR", "amount": "VARCHAR", "decimals": "VARCHAR"}]')
    end as changes
  from record
),
changed as (
  select
    *,
    list_transform(
      changes,
      lambda change: {
        'mint': nullif(change.mint, ''),
        'amount': as_double(change.amount),
        'decimals': as_integer(change.decimals)
      }
    ) as balance_changes,
    [
      cast_error('balance_changes', listed_changes, balance_changes),
      element_cast_error('balance_changes', listed_changes, '$[*]', 'OBJECT'),
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
            'raw': listed_changes::varchar
          }
      end
    ] as own_errors
  from listed
),
