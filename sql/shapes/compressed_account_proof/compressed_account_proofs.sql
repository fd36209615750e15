-- shape: compressed_account_proof, table: compressed_account_proofs (the record of getCompressedAccountProof)
-- grain: one row a record; a record without a usable hash is a row with hash NULL and its text in `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "hash": "VARCHAR", "leafIndex": "VARCHAR", "merkleTree": "VARCHAR", "proof": "JSON", "root": "VARCHAR",
        "rootSeq": "VARCHAR"
      }'
    ) as r
  from record
),
valued as (
  select
    *,
    is_address(r.hash) is true as usable,
    as_bigint(r.leafindex) as leaf_index,
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
  case when usable then r.hash end as hash,
  nullif(r.merkletree, '') as tree,
  leaf_index,
  nullif(r.root, '') as root,
  root_seq,
  proof,
  case
    when not list_has_all(['hash', 'leafIndex', 'merkleTree', 'proof', 'root', 'rootSeq'], json_keys(record))
      then json_merge_patch(
        record,
        '{"hash": null, "leafIndex": null, "merkleTree": null, "proof": null, "root": null, "rootSeq": null}'
      )
  end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable hash'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('leaf_index', r.leafindex, leaf_index),
        misfit('root_seq', r.rootseq, root_seq),
        misfit('proof', r.proof ->> '$', proof),
        odd_element('proof', r.proof, '$[*]', 'VARCHAR')
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
