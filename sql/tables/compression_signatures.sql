-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compression_signatures
-- grain: one row a transaction signature
-- holds: Signatures of transactions that used the compression program. A later answer fills what is NULL and overwrites nothing.
-- shapes: signature
-- key: signature
-- publish: append
-- record bytes: 220
-- feed slot: added.tx_slot
-- usable: is_signature(r.signature)
-- unusable: 'no usable signature'
signature varchar key <- signature -- Transaction signature, base58.
tx_slot bigint slot required <- slot -- Slot the transaction is in; several share one.
block_time timestamptz <- blockTime -- Time of that slot.
