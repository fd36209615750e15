-- shape: compression_transaction, table: compression_transactions
-- after: record
-- cast errors: own_errors
-- The transaction is a text or an object; servers write the other member in two ways. Bytes that are not base64 stay in
-- `extra`, as does all else of a transaction object.
parts as (
  select
    *,
    if(json_exists(record, '$.compressionInfo'), 'compressionInfo', 'compression_info') as info_name,
    coalesce(record -> '$.compressionInfo', record -> '$.compression_info') as info,
    record -> '$.transaction' as tx,
    case
      when json_type(tx) = 'VARCHAR' then tx ->> '$'
      when (tx ->> '$.transaction[1]') = 'base64' then tx ->> '$.transaction[0]'
    end as transaction
  from record
),
judged as (
  select
    *,
    list_max(
      list_transform(info ->> '$.openedAccounts[*].account.slotCreated', lambda text: as_bigint(text))
    ) as opened_slot,
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
    ) as unknown,
    [
      cast_error(
        'transaction', record ->> '$.transaction', case when json_type(tx) in ('VARCHAR', 'OBJECT') then true end
      ),
      cast_error('compressionInfo', info ->> '$', case when json_type(info) = 'OBJECT' then true end),
      cast_error(
        'opened', info ->> '$.openedAccounts', case when json_type(info, '$.openedAccounts') = 'ARRAY' then true end
      ),
      cast_error(
        'closed', info ->> '$.closedAccounts', case when json_type(info, '$.closedAccounts') = 'ARRAY' then true end
      )
    ] as own_errors
  from parts
),
