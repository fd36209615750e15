-- shape: compression_transaction, table: compression_transactions (the answer of getTransactionWithCompressionInfo)
-- grain: one row a record that is an object; its key is the signature that was asked for, which the record has not
-- guarantees: as shape asset; bytes that are not base64 stay in `extra`, as does all else of a transaction object
parsed as (
  select
    *,
    params ->> '$.signature' as signature,
    coalesce(json_type(record), '') = 'OBJECT' as usable,
    if(json_exists(record, '$.compressionInfo'), 'compressionInfo', 'compression_info') as info_name,
    coalesce(record -> '$.compressionInfo', record -> '$.compression_info') as info,
    record -> '$.transaction' as tx,
    case
      when json_type(tx) = 'VARCHAR' then tx ->> '$'
      when (tx ->> '$.transaction[1]') = 'base64' then tx ->> '$.transaction[0]'
    end as transaction
  from record
),
valued as (
  select
    *,
    as_bigint(tx ->> '$.slot') as tx_slot,
    as_time(tx ->> '$.blockTime') as block_time,
    list_max(
      list_transform(info ->> '$.openedAccounts[*].account.slotCreated', lambda text: as_bigint(text))
    ) as opened_slot
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  coalesce(page_slot, plausible_slot(tx_slot, slot_ceiling), plausible_slot(opened_slot, slot_ceiling)) as slot,
  case when usable then signature end as signature,
  tx_slot,
  block_time,
  transaction,
  json_array_length(info, '$.openedAccounts')::bigint as opened,
  json_array_length(info, '$.closedAccounts')::bigint as closed,
  extra_object(
    concat_ws(
      ',',
      case
        when not list_has_all(['compressionInfo', 'compression_info', 'transaction'], json_keys(record))
          then unknown_members(record, '{"compressionInfo": null, "compression_info": null, "transaction": null}')
      end,
      object_member(
        info_name,
        case
          when not list_has_all(['openedAccounts', 'closedAccounts'], json_keys(info))
            then unknown_members(info, '{"openedAccounts": null, "closedAccounts": null}')
        end
      ),
      object_member(
        'transaction',
        case
          when transaction is null then unknown_members(tx, '{"slot": null, "blockTime": null}')
          when json_type(tx) = 'OBJECT'
            then unknown_members(tx, '{"slot": null, "blockTime": null, "transaction": null}')
        end
      )
    )
  ) as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'is not an object'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('tx_slot', tx ->> '$.slot', tx_slot),
        misfit('block_time', tx ->> '$.blockTime', block_time),
        misfit(
          'transaction',
          record ->> '$.transaction',
          case when json_type(tx) in ('VARCHAR', 'OBJECT') then true end
        ),
        misfit('compressionInfo', info ->> '$', case when json_type(info) = 'OBJECT' then true end),
        misfit(
          'opened',
          info ->> '$.openedAccounts',
          case when json_type(info, '$.openedAccounts') = 'ARRAY' then true end
        ),
        misfit(
          'closed',
          info ->> '$.closedAccounts',
          case when json_type(info, '$.closedAccounts') = 'ARRAY' then true end
        )
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
