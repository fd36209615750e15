-- shape: compression_transaction, table: compressed_accounts (the accounts that a transaction opened, true at the slot
--   they were created in)
-- after: record
-- rows: usable
-- cast errors: none
-- compression_transaction_accounts tells of all others, and of what could not be cast.
opened as (
  select
    * replace (
      unnest(
        coalesce(record -> '$.compressionInfo', record -> '$.compression_info') -> '$.openedAccounts[*].account'
      ) as record
    )
  from record
),
account as (
  select * replace (coalesce(as_slot(record ->> '$.slotCreated', slot_ceiling), page_slot) as page_slot)
  from opened
),
