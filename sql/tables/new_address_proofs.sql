-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: new_address_proofs
-- grain: one row an address and tree
-- holds: Proofs that addresses are free in an address tree, as last seen.
-- shapes: new_address_proof
-- key: tree, address
-- publish: merge
-- record bytes: 1700
-- usable: is_address(r.address) and is_address(r.merkleTree)
-- unusable: 'no usable address and tree'
tree varchar key <- merkleTree -- Address tree.
address varchar key <- address -- The address that is not taken.
lower_range_address varchar nonempty <- lowerRangeAddress -- Next lower address that is taken.
higher_range_address varchar nonempty <- higherRangeAddress -- Next higher address that is taken.
low_element_leaf_index bigint <- lowElementLeafIndex -- Leaf of the lower one, which the proof is of.
next_index bigint <- nextIndex -- Leaf of the higher one.
root varchar nonempty steady required <- root -- Root that the proof leads to.
root_seq bigint <- rootSeq -- Sequence number of the tree at that root.
proof varchar[] steady required <- proof -- Neighbours on the way from the leaf up to the root.
extra json
