-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compressed_token_accounts
-- grain: one row a compressed token account (hash)
-- holds: Token data of compressed accounts, as last seen; the account itself is in compressed_accounts.
-- shapes: compressed_token_account
-- key: hash
-- publish: merge
-- record bytes: 790
-- spent by: compression_transaction
-- history: yes
-- elsewhere: account
-- usable: is_address(r.account.hash)
-- unusable: 'no usable hash'
hash varchar key <- account.hash -- Hash of the account, base58.
owner varchar text nonempty steady required <- tokenData.owner -- Owner of the tokens.
mint varchar text nonempty steady required <- tokenData.mint -- Mint of the tokens.
amount ubigint steady required <- tokenData.amount -- Balance in the smallest unit, exact to 2^64 - 1.
delegate varchar nonempty <- tokenData.delegate -- Address that may move them.
state varchar steady <- tokenData.state -- initialized or frozen.
tlv varchar <- tokenData.tlv -- Token extensions, base64.
extra json
