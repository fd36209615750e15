-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compressed_accounts
-- grain: one row a compressed account (hash)
-- holds: Compressed accounts, as last seen. A change closes an account and opens another, with a new hash.
-- key: hash
-- publish: merge
-- record bytes: 580
-- spent by: compression_transaction
-- history: yes
-- shapes: compressed_account, compressed_token_account, compression_transaction
-- kept: merkleContext
-- usable: is_address(r.hash)
-- unusable: 'no usable hash'
hash varchar key <- hash -- Hash of the account, base58.
address varchar nonempty <- address -- Its address, which its successors keep; NULL for an account without one.
owner varchar text nonempty steady required <- owner -- Program or wallet that owns it; of a token account the token program.
lamports ubigint steady required <- lamports -- Lamports it holds, exact to 2^64 - 1.
tree varchar text nonempty steady required <- tree or merkleContext.tree -- State tree it is a leaf of.
leaf_index bigint steady <- leafIndex -- Its leaf in the tree.
seq bigint <- seq -- Sequence number of the tree when it was appended; NULL where the source has none.
slot_created bigint <- slotCreated -- Slot of the transaction that opened it.
discriminator ubigint <- data.discriminator -- Kind of its data, a u64 that the owning program chose; NULL for an account without data.
data varchar <- data.data -- Its data, base64.
data_hash varchar nonempty <- data.dataHash -- Hash of its data.
extra json
