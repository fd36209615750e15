-- shape: asset, table: assets (the asset record of getAsset, getAssetBatch, getAssetsByGroup, getAssetsByCreator)
-- grain: one row a record; a record without a usable id is a row with id NULL and its text in `misfits`
-- guarantees: no value is rounded, wrapped or dropped: what does not fit its column is in `misfits`, what has
--   no column is in `extra`; a group is `carries_…` only when the answer speaks of it
parsed as (
  select
    *,
    from_json(
      record,
      '{
        "last_indexed_slot": "VARCHAR", "interface": "VARCHAR", "id": "VARCHAR",
        "content": {
          "$schema": "VARCHAR", "json_uri": "VARCHAR", "files": "JSON", "last_indexed_slot": "VARCHAR",
          "metadata": {
            "attributes": "JSON", "description": "VARCHAR", "name": "VARCHAR", "symbol": "VARCHAR",
            "token_standard": "VARCHAR"
          },
          "links": {"image": "VARCHAR", "external_url": "VARCHAR"}
        },
        "authorities": "JSON",
        "compression": {
          "eligible": "VARCHAR", "compressed": "VARCHAR", "data_hash": "VARCHAR", "creator_hash": "VARCHAR",
          "asset_hash": "VARCHAR", "tree": "VARCHAR", "seq": "VARCHAR", "leaf_id": "VARCHAR"
        },
        "grouping": "JSON",
        "royalty": {
          "royalty_model": "VARCHAR", "target": "VARCHAR", "percent": "VARCHAR", "basis_points": "VARCHAR",
          "primary_sale_happened": "VARCHAR", "locked": "VARCHAR"
        },
        "creators": "JSON",
        "ownership": {
          "frozen": "VARCHAR", "delegated": "VARCHAR", "delegate": "VARCHAR", "ownership_model": "VARCHAR",
          "owner": "VARCHAR"
        },
        "supply": {"print_max_supply": "VARCHAR", "print_current_supply": "VARCHAR", "edition_nonce": "VARCHAR"},
        "mutable": "VARCHAR", "burnt": "VARCHAR",
        "token_info": {
          "symbol": "VARCHAR", "supply": "VARCHAR", "decimals": "VARCHAR", "token_program": "VARCHAR",
          "price_info": {"price_per_token": "VARCHAR", "currency": "VARCHAR"},
          "mint_authority": "VARCHAR", "freeze_authority": "VARCHAR"
        },
        "inscription": "JSON", "spl20": "JSON"
      }'
    ) as r,
    json_keys(
      record,
      [
        '$', '$.content', '$.content.metadata', '$.content.links', '$.compression', '$.royalty', '$.ownership',
        '$.supply', '$.token_info', '$.token_info.price_info'
      ]
    ) as keys
  from record
),
typed as (
  select
    *,
    is_address(r.id) is true as usable,
    as_boolean(r.compression.compressed) as compressed,
    from_json(r.creators, '[{"address": "VARCHAR", "share": "VARCHAR", "verified": "VARCHAR"}]') as creator_list,
    from_json(r.grouping, '[{"group_key": "VARCHAR", "group_value": "VARCHAR"}]') as grouping_list,
    from_json(r.authorities, '[{"address": "VARCHAR", "scopes": ["VARCHAR"]}]') as authority_list,
    from_json(r.content.files, '[{"uri": "VARCHAR", "cdn_uri": "VARCHAR", "mime": "VARCHAR"}]') as file_list,
    case json_type(r.content.metadata.attributes)
      when 'ARRAY' then from_json(
        r.content.metadata.attributes, '[{"trait_type": "VARCHAR", "value": "VARCHAR"}]'
      )
      when 'OBJECT' then list_transform(
        map_entries(from_json(r.content.metadata.attributes, '"MAP(VARCHAR, VARCHAR)"')),
        lambda pair: {'trait_type': pair.key, 'value': pair.value}
      )
    end as attribute_list,
    list_contains(keys[1], 'content') and len(keys[2]) > 0 as content_shown,
    list_contains(keys[1], 'token_info') and len(keys[9]) > 0 as token_info_shown
  from parsed
),
valued as (
  select
    *,
    as_bigint(r.compression.seq) as seq_number,
    as_bigint(r.compression.leaf_id) as leaf_number,
    as_ubigint(r.token_info.supply) as token_supply,
    as_integer(r.token_info.decimals) as token_decimals,
    as_ubigint(r.supply.print_max_supply) as print_max_supply,
    as_ubigint(r.supply.print_current_supply) as print_current_supply,
    as_bigint(r.supply.edition_nonce) as edition_nonce,
    as_double(r.token_info.price_info.price_per_token) as price_per_token,
    as_double(r.royalty.percent) as royalty_percent,
    as_integer(r.royalty.basis_points) as royalty_basis_points
  from typed
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  coalesce(as_bigint(r.last_indexed_slot), as_bigint(r.content.last_indexed_slot), page_slot) as slot,
  coalesce(list_contains(carries, 'content'), false) or coalesce(content_shown, false) as carries_content,
  coalesce(as_bigint(r.last_indexed_slot), as_bigint(r.content.last_indexed_slot), page_slot) as content_slot,
  coalesce(list_contains(carries, 'token_info'), false) or coalesce(token_info_shown, false) as carries_token_info,
  coalesce(as_bigint(r.last_indexed_slot), page_slot) as token_info_slot,
  coalesce(list_contains(carries, 'inscription'), false) or r.inscription is not null as carries_inscription,
  coalesce(as_bigint(r.last_indexed_slot), page_slot) as inscription_slot,
  r.spl20 is not null as carries_spl20,
  coalesce(as_bigint(r.last_indexed_slot), page_slot) as spl20_slot,
  case when usable then r.id end as id,
  r.interface,
  r.content.metadata.name as name,
  r.content.metadata.symbol as symbol,
  r.content.metadata.description as description,
  r.content.metadata.token_standard as token_standard,
  nullif(r.content.json_uri, '') as json_uri,
  nullif(r.content."$schema", '') as schema_uri,
  nullif(r.content.links.image, '') as image,
  nullif(r.content.links.external_url, '') as external_url,
  nullif(r.ownership.owner, '') as owner,
  r.ownership.ownership_model as ownership_model,
  as_boolean(r.ownership.frozen) as frozen,
  as_boolean(r.ownership.delegated) as delegated,
  nullif(r.ownership.delegate, '') as delegate,
  compressed,
  as_boolean(r.compression.eligible) as eligible,
  nullif(r.compression.tree, '') as tree,
  case when compressed then leaf_number end as leaf_id,
  case when compressed then seq_number end as seq,
  nullif(r.compression.data_hash, '') as data_hash,
  nullif(r.compression.creator_hash, '') as creator_hash,
  nullif(r.compression.asset_hash, '') as asset_hash,
  nullif(list_filter(grouping_list, lambda g: g.group_key = 'collection')[1].group_value, '') as collection,
  r.royalty.royalty_model as royalty_model,
  nullif(r.royalty.target, '') as royalty_target,
  royalty_percent,
  royalty_basis_points,
  as_boolean(r.royalty.primary_sale_happened) as primary_sale_happened,
  as_boolean(r.royalty.locked) as locked,
  print_max_supply,
  print_current_supply,
  edition_nonce,
  r.token_info.symbol as token_symbol,
  token_supply,
  token_decimals,
  nullif(r.token_info.token_program, '') as token_program,
  price_per_token,
  r.token_info.price_info.currency as price_currency,
  nullif(r.token_info.mint_authority, '') as mint_authority,
  nullif(r.token_info.freeze_authority, '') as freeze_authority,
  as_boolean(r.mutable) as mutable,
  as_boolean(r.burnt) as burnt,
  list_transform(
    creator_list,
    lambda c: {
      'address': nullif(c.address, ''), 'share': as_integer(c.share), 'verified': as_boolean(c.verified)
    }
  ) as creators,
  list_transform(
    grouping_list, lambda g: {'group_key': g.group_key, 'group_value': nullif(g.group_value, '')}
  ) as grouping,
  list_transform(
    authority_list, lambda a: {'address': nullif(a.address, ''), 'scopes': a.scopes}
  ) as authorities,
  attribute_list as attributes,
  list_transform(
    file_list, lambda f: {'uri': nullif(f.uri, ''), 'cdn_uri': nullif(f.cdn_uri, ''), 'mime': f.mime}
  ) as files,
  r.inscription,
  r.spl20,
  nullif(
    concat_ws(
      ',',
      case
        when not list_has_all(
          [
            'last_indexed_slot', 'interface', 'id', 'content', 'authorities', 'compression', 'grouping',
            'royalty', 'creators', 'ownership', 'supply', 'mutable', 'burnt', 'token_info', 'inscription', 'spl20'
          ],
          keys[1]
        ) then unknown_members(
          record,
          '{"last_indexed_slot": null, "interface": null, "id": null, "content": null, "authorities": null,
            "compression": null, "grouping": null, "royalty": null, "creators": null, "ownership": null,
            "supply": null, "mutable": null, "burnt": null, "token_info": null, "inscription": null, "spl20": null}'
        )
      end,
      case
        when has_unknown_element(r.authorities, ['address', 'scopes'])
          then value_member('authorities', r.authorities)
      end,
      object_member(
        'compression',
        case
          when not list_has_all(
            [
              'eligible', 'compressed', 'data_hash', 'creator_hash', 'asset_hash', 'tree', 'seq', 'leaf_id'
            ],
            keys[5]
          ) then unknown_members(
            record -> '$.compression',
            '{"eligible": null, "compressed": null, "data_hash": null, "creator_hash": null, "asset_hash": null,
              "tree": null, "seq": null, "leaf_id": null}'
          )
        end
      ),
      case
        when has_unknown_element(r.grouping, ['group_key', 'group_value']) then value_member('grouping', r.grouping)
      end,
      object_member(
        'royalty',
        case
          when not list_has_all(
            ['royalty_model', 'target', 'percent', 'basis_points', 'primary_sale_happened', 'locked'], keys[6]
          ) then unknown_members(
            record -> '$.royalty',
            '{"royalty_model": null, "target": null, "percent": null, "basis_points": null,
              "primary_sale_happened": null, "locked": null}'
          )
        end
      ),
      case
        when has_unknown_element(r.creators, ['address', 'share', 'verified'])
          then value_member('creators', r.creators)
      end,
      object_member(
        'ownership',
        case
          when not list_has_all(['frozen', 'delegated', 'delegate', 'ownership_model', 'owner'], keys[7])
            then unknown_members(
              record -> '$.ownership',
              '{"frozen": null, "delegated": null, "delegate": null, "ownership_model": null, "owner": null}'
            )
        end
      ),
      object_member(
        'supply',
        case
          when not list_has_all(['print_max_supply', 'print_current_supply', 'edition_nonce'], keys[8])
            then unknown_members(
              record -> '$.supply',
              '{"print_max_supply": null, "print_current_supply": null, "edition_nonce": null}'
            )
        end
      )
    ),
    ''
  ) as base_extra,
  object_member(
    'content',
    concat_ws(
      ',',
      case
        when not list_has_all(
          ['$schema', 'json_uri', 'files', 'metadata', 'links', 'last_indexed_slot'], keys[2]
        ) then unknown_members(
          record -> '$.content',
          '{"$schema": null, "json_uri": null, "files": null, "metadata": null, "links": null,
            "last_indexed_slot": null}'
        )
      end,
      case
        when has_unknown_element(r.content.files, ['uri', 'cdn_uri', 'mime'])
          then value_member('files', r.content.files)
      end,
      object_member(
        'metadata',
        concat_ws(
          ',',
          case
            when not list_has_all(
              ['attributes', 'description', 'name', 'symbol', 'token_standard'], keys[3]
            ) then unknown_members(
              record -> '$.content.metadata',
              '{"attributes": null, "description": null, "name": null, "symbol": null, "token_standard": null}'
            )
          end,
          case
            when json_type(r.content.metadata.attributes) = 'ARRAY'
              and has_unknown_element(r.content.metadata.attributes, ['trait_type', 'value'])
              then value_member('attributes', r.content.metadata.attributes)
          end
        )
      ),
      object_member(
        'links',
        case
          when not list_has_all(['image', 'external_url'], keys[4])
            then unknown_members(record -> '$.content.links', '{"image": null, "external_url": null}')
        end
      )
    )
  ) as content_extra,
  object_member(
    'token_info',
    concat_ws(
      ',',
      case
        when not list_has_all(
          [
            'symbol', 'supply', 'decimals', 'token_program', 'price_info', 'mint_authority', 'freeze_authority'
          ],
          keys[9]
        ) then unknown_members(
          record -> '$.token_info',
          '{"symbol": null, "supply": null, "decimals": null, "token_program": null, "price_info": null,
            "mint_authority": null, "freeze_authority": null}'
        )
      end,
      object_member(
        'price_info',
        case
          when not list_has_all(['price_per_token', 'currency'], keys[10])
            then unknown_members(
              record -> '$.token_info.price_info', '{"price_per_token": null, "currency": null}'
            )
        end
      )
    )
  ) as token_info_extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable id'),
        'raw': coalesce(raw, record::varchar)
      }
    ]
    else list_filter(
      [
        misplaced('content', r.content, keys[2], record, '$.content'),
        misplaced('metadata', r.content.metadata, keys[3], record, '$.content.metadata'),
        misplaced('links', r.content.links, keys[4], record, '$.content.links'),
        misplaced('compression', r.compression, keys[5], record, '$.compression'),
        misplaced('royalty', r.royalty, keys[6], record, '$.royalty'),
        misplaced('ownership', r.ownership, keys[7], record, '$.ownership'),
        misplaced('supply', r.supply, keys[8], record, '$.supply'),
        misplaced('token_info', r.token_info, keys[9], record, '$.token_info'),
        misplaced('price_info', r.token_info.price_info, keys[10], record, '$.token_info.price_info'),
        misfit('slot', r.last_indexed_slot, as_bigint(r.last_indexed_slot)),
        misfit('content_slot', r.content.last_indexed_slot, as_bigint(r.content.last_indexed_slot)),
        misfit('frozen', r.ownership.frozen, as_boolean(r.ownership.frozen)),
        misfit('delegated', r.ownership.delegated, as_boolean(r.ownership.delegated)),
        misfit('compressed', r.compression.compressed, compressed),
        misfit('eligible', r.compression.eligible, as_boolean(r.compression.eligible)),
        misfit('leaf_id', r.compression.leaf_id, leaf_number),
        misfit('seq', r.compression.seq, seq_number),
        misfit('royalty_percent', r.royalty.percent, royalty_percent),
        misfit('royalty_basis_points', r.royalty.basis_points, royalty_basis_points),
        misfit(
          'primary_sale_happened', r.royalty.primary_sale_happened, as_boolean(r.royalty.primary_sale_happened)
        ),
        misfit('locked', r.royalty.locked, as_boolean(r.royalty.locked)),
        misfit('print_max_supply', r.supply.print_max_supply, print_max_supply),
        misfit('print_current_supply', r.supply.print_current_supply, print_current_supply),
        misfit('edition_nonce', r.supply.edition_nonce, edition_nonce),
        misfit('token_supply', r.token_info.supply, token_supply),
        misfit('token_decimals', r.token_info.decimals, token_decimals),
        misfit('price_per_token', r.token_info.price_info.price_per_token, price_per_token),
        misfit('mutable', r.mutable, as_boolean(r.mutable)),
        misfit('burnt', r.burnt, as_boolean(r.burnt)),
        misfit('creators', r.creators, creator_list),
        misfit(
          'creators',
          r.creators,
          case
            when list_bool_and(
              list_transform(
                coalesce(creator_list, []),
                lambda c: (c.share is null or as_integer(c.share) is not null)
                  and (c.verified is null or as_boolean(c.verified) is not null)
              )
            ) is not false then true
          end
        ),
        misfit('grouping', r.grouping, grouping_list),
        misfit('authorities', r.authorities, authority_list),
        misfit('files', r.content.files, file_list),
        misfit('attributes', r.content.metadata.attributes, attribute_list),
        odd_element('creators', r.creators, '$[*]', 'OBJECT'),
        odd_element('grouping', r.grouping, '$[*]', 'OBJECT'),
        odd_element('authorities', r.authorities, '$[*]', 'OBJECT'),
        odd_element('authorities', r.authorities, '$[*].scopes', 'ARRAY'),
        odd_element('files', r.content.files, '$[*]', 'OBJECT'),
        odd_element('attributes', r.content.metadata.attributes, '$[*]', 'OBJECT')
      ],
      lambda entry: entry is not null
    )
  end as misfits
from valued
