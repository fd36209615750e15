-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compressed_account_proofs
-- grain: one row a compressed account (hash)
-- holds: Merkle proofs that compressed accounts are in their state trees, as last seen.
-- shapes: compressed_account_proof
-- key: hash
-- publish: merge
-- record bytes: 1550
-- usable: is_address(r.hash)
-- unusable: 'no usable hash'
hash varchar key <- hash -- Hash of the account: the leaf.
tree varchar nonempty steady required <- merkleTree -- State tree it is in.
leaf_index bigint steady <- leafIndex -- Its leaf in the tree.
root varchar nonempty steady required <- root -- Root that the proof leads to.
root_seq bigint <- rootSeq -- Sequence number of the tree at that root.
proof varchar[] steady required <- proof -- Neighbours on the way from the leaf up to the root.
extra json
