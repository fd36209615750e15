-- A header line, then a line a column. CONTRIBUTING.md, "Add a column", explains both.
-- table: compression_signature_sources
-- grain: one row a signature and list it was seen in
-- holds: Which list each signature was seen in.
-- shapes: signature
-- key: signature, source, address
-- publish: append
-- usable: is_signature(r.signature)
signature varchar <- signature -- Transaction signature, base58.
source varchar = case operation when 'getLatestCompressionSignatures' then 'latest' when 'getCompressionSignaturesForTokenOwner' then 'owner' else 'address' end -- latest (all transactions), owner (a token owner's) or address (an address's).
address varchar = coalesce(params ->> '$.owner', params ->> '$.address', '') -- The owner or address asked for; empty for latest.
first_seen_slot -- The same slot: these rows never change.
changed_slot -- The same slot: these rows never change.
run_id -- Run that received it.
