-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: wallet_transfers
-- grain: one row a transfer (wallet, signature, position)
-- holds: Transfers in and out of wallets. A later answer fills what is NULL; one that shows more transfers of a signature replaces its rows.
-- shapes: wallet_transfer
-- key: wallet, signature, position
-- publish: append
-- feed slot: epoch(added.timestamp)::bigint
-- slots: none
-- usable: is_address(wallet) and is_signature(r.signature)
-- unusable: 'no usable signature'
wallet varchar key = params ->> '$.wallet' -- Address of the wallet, base58.
signature varchar key <- signature -- Signature of its transaction, base58.
position integer -- Number of the transfer within its signature, from 0, in the order of the answer.
timestamp timestamptz <- timestamp -- Time of the transaction; NULL where it is not known.
direction varchar <- direction -- in or out, as the wallet sees it.
counterparty varchar nonempty <- counterparty -- Address on the other side.
mint varchar nonempty required <- mint -- Mint of the token.
symbol varchar <- symbol -- Symbol of the token.
amount double required <- amount -- Amount in whole tokens, a float: not exact.
amount_raw ubigint <- amountRaw -- Amount in the smallest unit, exact to 2^64 - 1.
decimals integer <- decimals -- Decimal places of the smallest unit.
extra json
