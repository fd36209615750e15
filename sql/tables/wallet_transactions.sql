-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: wallet_transactions
-- grain: one row a wallet and transaction (wallet, signature)
-- holds: Transactions of wallets with the changes of their balances. A later answer fills what is NULL and overwrites nothing.
-- shapes: wallet_transaction
-- key: wallet, signature
-- publish: append
-- feed slot: epoch(added.timestamp)::bigint
-- slots: none
-- elsewhere: balanceChanges
-- usable: is_address(wallet) and is_signature(r.signature)
-- unusable: 'no usable signature'
wallet varchar key = params ->> '$.wallet' -- Address of the wallet, base58.
signature varchar key <- signature -- Transaction signature, base58.
tx_slot bigint <- slot -- Slot the transaction is in.
timestamp timestamptz required <- timestamp -- Time of that slot; NULL where it is not known.
fee double <- fee -- Fee in whole units of the ledger's own token, a float.
fee_payer varchar nonempty <- feePayer -- Address that paid the fee.
error varchar <- error -- Why the transaction failed; NULL when it succeeded.
balance_changes struct(mint varchar, amount double, decimals integer)[] -- What changed in the wallet, by mint; amount is a float in whole tokens, negative for a decrease.
extra json
