-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: wallet_funding
-- grain: one row a wallet whose first funds are known (wallet)
-- holds: Where the first funds of wallets came from, as last seen; a wallet without a row is not known.
-- shapes: wallet_funding
-- key: wallet
-- publish: merge
-- slots: none
-- usable: is_address(wallet) and json_type(record) = 'OBJECT'
-- unusable: 'is no record of a wallet'
wallet varchar key = params ->> '$.wallet' -- Address of the wallet, base58.
funder varchar nonempty steady required <- funder -- Address the funds came from.
funder_name varchar <- funderName -- Who that address is known to belong to.
funder_type varchar <- funderType -- Kind of that owner, such as exchange.
mint varchar nonempty <- mint -- Mint of the token.
symbol varchar <- symbol -- Symbol of the token.
amount double steady <- amount -- Amount in whole tokens, a float: not exact.
amount_raw ubigint <- amountRaw -- Amount in the smallest unit, exact to 2^64 - 1.
decimals integer <- decimals -- Decimal places of the smallest unit.
signature varchar nonempty steady required <- signature -- Signature of the transaction, base58.
tx_slot bigint <- slot -- Slot the transaction is in.
timestamp timestamptz <- timestamp -- Time of the transaction; NULL where it is not known.
date varchar <- date -- The same time as the source writes it.
explorer_url varchar nonempty <- explorerUrl -- The transaction in the source's explorer.
extra json
