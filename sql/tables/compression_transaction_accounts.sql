-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compression_transaction_accounts
-- grain: one row an account that a transaction opened or closed
-- holds: Compressed accounts that transactions opened and closed, as they were then. A later answer fills what is NULL and overwrites nothing.
-- shapes: compression_transaction
-- key: signature, change, hash
-- publish: append
-- kept: account.merkleContext
-- usable: is_address(r.account.hash)
-- unusable: 'no usable hash'
signature varchar = params ->> '$.signature' -- Signature of the transaction.
change varchar -- opened or closed.
hash varchar key <- account.hash -- Hash of the account.
position bigint -- Place in the list of the answer, from 0.
address varchar nonempty <- account.address -- Its address, which its successors keep; NULL for an account without one.
owner varchar text nonempty <- account.owner -- Program or wallet that owns it; of a token account the token program.
lamports ubigint <- account.lamports -- Lamports it holds, exact to 2^64 - 1.
tree varchar text nonempty <- account.tree or account.merkleContext.tree -- State tree it is a leaf of.
leaf_index bigint <- account.leafIndex -- Its leaf in the tree.
seq bigint <- account.seq -- Sequence number of the tree when it was appended; NULL where the source has none.
slot_created bigint <- account.slotCreated -- Slot of the transaction that opened it.
discriminator ubigint <- account.data.discriminator -- Kind of its data, a u64 that the owning program chose; NULL for an account without data.
data varchar <- account.data.data -- Its data, base64.
data_hash varchar nonempty <- account.data.dataHash -- Hash of its data.
token_owner varchar text nonempty <- optionalTokenData.owner -- Owner of the tokens; NULL, as all token columns, for an account without tokens.
mint varchar text nonempty <- optionalTokenData.mint -- Mint of the tokens.
amount ubigint <- optionalTokenData.amount -- Balance in the smallest unit, exact to 2^64 - 1.
delegate varchar nonempty <- optionalTokenData.delegate -- Address that may move them.
state varchar <- optionalTokenData.state -- initialized or frozen.
tlv varchar <- optionalTokenData.tlv -- Token extensions, base64.
extra json
slot -- Slot of the transaction, as far as the answer says it; NULL otherwise.
