-- What an asset's keys and kinds of values say, whatever its values are. They live only in the loader's connection.

-- True when a list has an element (or a member of its elements) of another kind.
create or replace temp macro has_odd_element(list, path, kind) as
  coalesce(json_type(list) = 'ARRAY' and not list_has_all([kind, 'NULL'], json_type(list, path)), false);

-- `record` is an asset, or one of the same form. Few functions read the whole of it: each holds all its text.
create or replace temp macro asset_facts(record) as
  list_transform(
    [
      {
        'keys': json_keys(
          record,
          [
            '$', '$.content', '$.content.metadata', '$.content.links', '$.compression', '$.royalty', '$.ownership',
            '$.supply', '$.token_info', '$.token_info.price_info'
          ]
        ),
        'objects': json_type(
          record,
          [
            '$.content', '$.content.metadata', '$.content.links', '$.compression', '$.royalty', '$.ownership',
            '$.supply', '$.token_info', '$.token_info.price_info'
          ]
        ),
        'lists': from_json(
          record,
          '{
            "creators": "JSON", "grouping": "JSON", "authorities": "JSON",
            "content": {"files": "JSON", "metadata": {"attributes": "JSON"}}
          }'
        )
      }
    ],
    lambda told: {
      'content_shown': list_contains(told.keys[1], 'content') and len(told.keys[2]) > 0,
      'token_info_shown': list_contains(told.keys[1], 'token_info') and len(told.keys[9]) > 0,
      -- A list that leaves it out, or says `{}`, says nothing of it; null says that there is none.
      'supply_shown': list_contains(told.keys[1], 'supply') and (told.objects[7] = 'NULL' or len(told.keys[8]) > 0),
      'attributes_mapped': coalesce(json_type(told.lists.content.metadata.attributes) = 'OBJECT', false),
      -- Something is not of the kind that its column takes.
      'odd': not list_has_all(['OBJECT', 'NULL'], list_filter(told.objects, lambda kind: kind is not null))
        or coalesce(json_type(told.lists.creators) <> 'ARRAY', false)
        or coalesce(json_type(told.lists.grouping) <> 'ARRAY', false)
        or coalesce(json_type(told.lists.authorities) <> 'ARRAY', false)
        or coalesce(json_type(told.lists.content.files) <> 'ARRAY', false)
        or coalesce(json_type(told.lists.content.metadata.attributes) not in ('ARRAY', 'OBJECT'), false)
        or has_odd_element(told.lists.creators, '$[*]', 'OBJECT')
        or has_odd_element(told.lists.grouping, '$[*]', 'OBJECT')
        or has_odd_element(told.lists.authorities, '$[*]', 'OBJECT')
        or has_odd_element(told.lists.authorities, '$[*].scopes', 'ARRAY')
        or has_odd_element(told.lists.content.files, '$[*]', 'OBJECT')
        or has_odd_element(told.lists.content.metadata.attributes, '$[*]', 'OBJECT'),
      -- Members that no column takes.
      'more': not list_has_all(
        [
          'last_indexed_slot', 'interface', 'id', 'content', 'authorities', 'compression', 'grouping',
          'royalty', 'creators', 'ownership', 'supply', 'mutable', 'burnt', 'token_info', 'inscription', 'spl20'
        ],
        told.keys[1]
      ),
      'more_authorities': has_unknown_element(told.lists.authorities, ['address', 'scopes']),
      'more_compression': not list_has_all(
        ['eligible', 'compressed', 'data_hash', 'creator_hash', 'asset_hash', 'tree', 'seq', 'leaf_id'], told.keys[5]
      ),
      'more_grouping': has_unknown_element(told.lists.grouping, ['group_key', 'group_value']),
      'more_royalty': not list_has_all(
        ['royalty_model', 'target', 'percent', 'basis_points', 'primary_sale_happened', 'locked'], told.keys[6]
      ),
      'more_creators': has_unknown_element(told.lists.creators, ['address', 'share', 'verified']),
      'more_ownership': not list_has_all(
        ['frozen', 'delegated', 'delegate', 'ownership_model', 'owner'], told.keys[7]
      ),
      'more_supply': not list_has_all(['print_max_supply', 'print_current_supply', 'edition_nonce'], told.keys[8]),
      'more_content': not list_has_all(
        ['$schema', 'json_uri', 'files', 'metadata', 'links', 'last_indexed_slot'], told.keys[2]
      ),
      'more_files': has_unknown_element(told.lists.content.files, ['uri', 'cdn_uri', 'mime']),
      'more_metadata': not list_has_all(
        ['attributes', 'description', 'name', 'symbol', 'token_standard'], told.keys[3]
      ),
      'more_attributes': json_type(told.lists.content.metadata.attributes) = 'ARRAY'
        and has_unknown_element(
          told.lists.content.metadata.attributes, ['trait_type', 'value']
        ),
      'more_links': not list_has_all(['image', 'external_url'], told.keys[4]),
      'more_token_info': not list_has_all(
        ['symbol', 'supply', 'decimals', 'token_program', 'price_info', 'mint_authority', 'freeze_authority'],
        told.keys[9]
      ),
      'more_price_info': not list_has_all(['price_per_token', 'currency'], told.keys[10])
    }
  )[1];
