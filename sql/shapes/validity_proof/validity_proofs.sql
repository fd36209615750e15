-- shape: validity_proof, table: validity_proofs (the record of getValidityProof)
-- grain: one row a record that is an object; its key is the question (what was to be proved), which the record has
--   not
-- guarantees: as shape asset; the parallel lists stay parallel
parsed as (
  select
    *,
    coalesce(json_type(record), '') = 'OBJECT' as usable,
    from_json(
      record,
      '{
        "compressedProof": {"a": "JSON", "b": "JSON", "c": "JSON"}, "leaves": "JSON", "leafIndices": "JSON",
        "merkleTrees": "JSON", "roots": "JSON", "rootIndices": "JSON"
      }'
    ) as r,
    json_keys(record, ['$', '$.compressedProof']) as keys
  from record
),
valued as (
  select
    *,
    base64_bytes(r.compressedproof.a) as proof_a,
    base64_bytes(r.compressedproof.b) as proof_b,
    base64_bytes(r.compressedproof.c) as proof_c,
    text_list(r.leaves) as leaves,
    bigint_list(r.leafindices) as leaf_indices,
    text_list(r.merkletrees) as trees,
    text_list(r.roots) as roots,
    bigint_list(r.rootindices) as root_indices
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
  case when usable then request_key end as request_key,
  text_list(params -> '$.hashes') as hashes,
  from_json(params -> '$.newAddressesWithTrees', '[{"address": "VARCHAR", "tree": "VARCHAR"}]') as new_addresses,
  proof_a,
  proof_b,
  proof_c,
  leaves,
  leaf_indices,
  trees,
  roots,
  root_indices,
  extra_object(
    concat_ws(
      ',',
      case
        when not list_has_all(
          ['compressedProof', 'leaves', 'leafIndices', 'merkleTrees', 'roots', 'rootIndices'], keys[1]
        ) then unknown_members(
          record,
          '{"compressedProof": null, "leaves": null, "leafIndices": null, "merkleTrees": null, "roots": null,
            "rootIndices": null}'
        )
      end,
      object_member(
        'compressedProof',
        case
          when not list_has_all(['a', 'b', 'c'], keys[2])
            then unknown_members(record -> '$.compressedProof', '{"a": null, "b": null, "c": null}')
        end
      )
    )
  ) as extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'is not an object'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misplaced('compressedProof', record -> '$.compressedProof'),
        misfit('proof_a', r.compressedproof.a ->> '$', proof_a),
        misfit('proof_b', r.compressedproof.b ->> '$', proof_b),
        misfit('proof_c', r.compressedproof.c ->> '$', proof_c),
        misfit('leaves', r.leaves ->> '$', leaves),
        misfit('leaf_indices', r.leafindices ->> '$', leaf_indices),
        misfit('trees', r.merkletrees ->> '$', trees),
        misfit('roots', r.roots ->> '$', roots),
        misfit('root_indices', r.rootindices ->> '$', root_indices),
        odd_element('leaves', r.leaves, '$[*]', 'VARCHAR'),
        odd_element('trees', r.merkletrees, '$[*]', 'VARCHAR'),
        odd_element('roots', r.roots, '$[*]', 'VARCHAR')
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
