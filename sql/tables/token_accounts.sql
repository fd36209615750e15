-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: token_accounts
-- grain: one row a token account (address)
-- holds: Token accounts, as last seen.
-- shapes: token_account
-- key: address
-- publish: merge
-- record bytes: 330
-- history: yes
-- texts: yes
-- followed: yes
-- forms: yes
-- usable: is_address(r.address)
-- unusable: 'no usable address'
address varchar key <- address -- Address of the token account, base58.
mint varchar text nonempty steady required <- mint -- Mint of the token it holds.
owner varchar text nonempty steady required <- owner -- Owner of the account.
amount ubigint steady required <- amount -- Balance in the smallest unit, exact to 2^64 - 1.
delegated_amount ubigint <- delegated_amount -- Part of it that a delegate may move.
frozen boolean steady <- frozen -- Whether the account is frozen.
burnt json <- burnt -- As given; the source leaves its type open.
delegate varchar nonempty <- delegate -- Address that may move delegated_amount.
close_authority varchar nonempty <- close_authority -- Address that may close the account.
extensions json <- extensions -- Token extensions, as given.
extra json
slot <- last_indexed_slot
