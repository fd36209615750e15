-- shape: new_address_proof, table: new_address_proofs (the record of getMultipleNewAddressProofsV2)
-- grain: one row a record; a record without a usable address and tree is a row with both NULL and its text in
--   `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "address": "VARCHAR", "merkleTree": "VARCHAR", "lowerRangeAddress": "VARCHAR",
        "higherRangeAddress": "VARCHAR", "lowElementLeafIndex": "VARCHAR", "nextIndex": "VARCHAR",
        "proof": "JSON", "root": "VARCHAR", "rootSeq": "VARCHAR"
      }'
    ) as r
  from record
),
valued as (
  select
    *,
    coalesce(is_address(r.address) and is_address(r.merkletree), false) as usable,
    as_bigint(r.lowelementleafindex) as low_element_leaf_index,
    as_bigint(r.nextindex) as next_index,
    as_bigint(r.rootseq) as root_seq,
    text_list(r.proof) as proof
  from parsed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  page_slot as slot,
  case when usable then r.merkletree end as tree,
  case when usable then r.address end as address,
  nullif(r.lowerrangeaddress, '') as lower_range_address,
  nullif(r.higherrangeaddress, '') as higher_range_address,
  low_element_leaf_index,
  next_index,
  nullif(r.root, '') as root,
  root_seq,
  proof,
  case
    when not list_has_all(
      [
        'address', 'merkleTree', 'lowerRangeAddress', 'higherRangeAddress', 'lowElementLeafIndex', 'nextIndex',
        'proof', 'root', 'rootSeq'
      ],
      json_keys(record)
    ) then json_merge_patch(
      record,
      '{"address": null, "merkleTree": null, "lowerRangeAddress": null, "higherRangeAddress": null,
        "lowElementLeafIndex": null, "nextIndex": null, "proof": null, "root": null, "rootSeq": null}'
    )
  end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable address and tree'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('low_element_leaf_index', r.lowelementleafindex, low_element_leaf_index),
        misfit('next_index', r.nextindex, next_index),
        misfit('root_seq', r.rootseq, root_seq),
        misfit('proof', r.proof ->> '$', proof),
        odd_element('proof', r.proof, '$[*]', 'VARCHAR')
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
