-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: wallet_identities
-- grain: one row a wallet that somebody is known to own (wallet)
-- holds: Who wallets are known to belong to, as last seen; a wallet without a row is unknown.
-- shapes: wallet_identity
-- key: wallet
-- publish: merge
-- slots: none
-- staged answered: nullif(r.address, '')
-- usable: is_address(wallet) and json_type(record) = 'OBJECT'
-- unusable: 'no usable address'
wallet varchar key = coalesce(params ->> '$.wallet', r.address) -- Address of the wallet, base58.
type varchar steady <- type -- Kind of owner, such as exchange.
name varchar steady <- name -- Name of the owner.
category varchar <- category -- Category of the owner.
tags varchar[] any unordered <- tags -- Tags of the owner, in no order that means anything.
domain_names varchar[] any unordered <- domainNames -- Domain names of the wallet, in no order that means anything.
extra json
