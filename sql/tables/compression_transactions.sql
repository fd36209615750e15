-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compression_transactions
-- grain: one row a transaction (signature)
-- holds: Transactions that used the compression program. A later answer fills what is NULL and overwrites nothing.
-- shapes: compression_transaction
-- key: signature
-- publish: append
-- record bytes: 3300
-- usable: json_type(record) = 'OBJECT'
-- unusable: 'is not an object'
signature varchar key = params ->> '$.signature' -- Signature of the transaction, base58.
tx_slot bigint required = as_bigint(tx ->> '$.slot') raw tx ->> '$.slot' -- Slot the answer says it is in; compression_signatures knows it for every signature.
block_time timestamptz = as_time(tx ->> '$.blockTime') raw tx ->> '$.blockTime' -- Time of that slot, where the answer says it.
transaction varchar -- The transaction itself, base64.
opened bigint = json_array_length(info, '$.openedAccounts')::bigint -- Compressed accounts it opened.
closed bigint = json_array_length(info, '$.closedAccounts')::bigint -- Compressed accounts it closed.
extra json = unknown -- Fields of the answer that have no column, under their paths.
slot = coalesce(page_slot, as_slot(tx ->> '$.slot', slot_ceiling), plausible_slot(opened_slot, slot_ceiling)) -- Slot of the transaction, as far as the answer says it; NULL otherwise.
