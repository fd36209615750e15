-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: validity_proofs
-- grain: one row a question (request_key)
-- holds: Proofs that accounts are valid and new addresses free, as last answered.
-- shapes: validity_proof
-- key: request_key
-- publish: merge
-- usable: json_type(record) = 'OBJECT'
-- unusable: 'is not an object'
request_key varchar key = request_key -- Hash of the parameters.
hashes varchar[] = text_list(params -> '$.hashes') -- Hashes of the accounts that were asked for.
new_addresses struct(address varchar, tree varchar)[] = from_json(params -> '$.newAddressesWithTrees', '[{"address": "VARCHAR", "tree": "VARCHAR"}]') -- New addresses that were asked for.
proof_a varchar <- compressedProof.a via base64_bytes -- Part a of the proof, base64.
proof_b varchar <- compressedProof.b via base64_bytes -- Part b of the proof, base64.
proof_c varchar <- compressedProof.c via base64_bytes -- Part c of the proof, base64.
leaves varchar[] <- leaves -- Leaves proved: first the accounts, then the new addresses; the other lists run parallel.
leaf_indices bigint[] <- leafIndices -- Index of each leaf in its tree.
trees varchar[] <- merkleTrees -- Tree of each leaf.
roots varchar[] <- roots -- Root of each tree.
root_indices bigint[] <- rootIndices -- Place of each root among the roots its tree keeps.
extra json
