-- shape: compression_transaction, table: compression_transaction_accounts
-- after: record
-- One row an element of the two lists of the answer.
changed as (
  select
    *,
    coalesce(record -> '$.compressionInfo', record -> '$.compression_info') as info,
    unnest(
      [
        {'change': 'opened', 'elements': info -> '$.openedAccounts[*]'},
        {'change': 'closed', 'elements': info -> '$.closedAccounts[*]'}
      ]
    ) as changes
  from record
  where json_type(record) = 'OBJECT'
),
element as (
  select
    * replace (
      unnest(changes.elements) as record,
      coalesce(
        page_slot,
        as_bigint(record ->> '$.transaction.slot'),
        list_max(list_transform(info ->> '$.openedAccounts[*].account.slotCreated', lambda text: as_bigint(text)))
      ) as page_slot
    ),
    changes.change as change,
    generate_subscripts(changes.elements, 1) - 1 as position
  from changed
),
