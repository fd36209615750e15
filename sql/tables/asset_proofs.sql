-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: asset_proofs
-- grain: one row a compressed asset (id)
-- holds: Merkle proofs of compressed assets, as last seen.
-- shapes: asset_proof
-- key: id
-- publish: merge
-- record bytes: 1000
-- usable: is_address(record_key) is true and coalesce(json_type(record), '') = 'OBJECT'
-- unusable: if(is_address(record_key), 'is not an object', 'no usable id')
id varchar key = record_key -- Asset id, base58.
tree varchar nonempty steady required <- tree_id -- Merkle tree the asset is a leaf of.
leaf varchar nonempty steady <- leaf -- Hash of the leaf.
node_index bigint steady <- node_index -- Number of the leaf among the nodes of the tree: 2 ^ depth + leaf id.
root varchar nonempty steady required <- root -- Root that the proof leads to.
proof varchar[] steady required <- proof -- Neighbours on the way from the leaf up to the root.
burnt json <- burnt -- As given; the source leaves its type open.
extra json
slot <- last_indexed_slot
