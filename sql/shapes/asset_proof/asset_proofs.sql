-- shape: asset_proof, table: asset_proofs (a member of the object that getAssetProofBatch answers with)
-- grain: one row a member, its key is the asset id; one without a usable id is a row with id NULL and its text in
--   `misfits`
-- guarantees: as shape asset
parsed as (
  select
    *,
    is_address(record_key) is true and coalesce(json_type(record), '') = 'OBJECT' as usable,
    from_json(
      record,
      '{
        "last_indexed_slot": "VARCHAR", "root": "VARCHAR", "proof": "JSON", "node_index": "VARCHAR",
        "leaf": "VARCHAR", "tree_id": "VARCHAR", "burnt": "JSON"
      }'
    ) as r
  from record
),
valued as (
  select
    *,
    as_bigint(r.node_index) as node_index,
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
  coalesce(as_slot(r.last_indexed_slot, slot_ceiling), page_slot) as slot,
  case when usable then record_key end as id,
  nullif(r.tree_id, '') as tree,
  nullif(r.leaf, '') as leaf,
  node_index,
  nullif(r.root, '') as root,
  proof,
  r.burnt,
  case
    when not list_has_all(
      ['last_indexed_slot', 'root', 'proof', 'node_index', 'leaf', 'tree_id', 'burnt'], json_keys(record)
    ) then json_merge_patch(
      record,
      '{"last_indexed_slot": null, "root": null, "proof": null, "node_index": null, "leaf": null, "tree_id": null,
        "burnt": null}'
    )
  end as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, if(is_address(record_key), 'is not an object', 'no usable id')),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misfit('slot', nullif(r.last_indexed_slot, '0'), as_slot(r.last_indexed_slot, slot_ceiling)),
        misfit('node_index', r.node_index, node_index),
        misfit('proof', r.proof ->> '$', proof),
        odd_element('proof', r.proof, '$[*]', 'VARCHAR')
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
