-- shape: asset, table: assets (the asset record of getAsset, getAssetBatch, getAssetsByGroup, getAssetsByCreator)
-- grain: one row a record; a record without a usable id is a row with id NULL and its text in `misfits`
-- guarantees: no value is rounded, wrapped or dropped: what does not fit its column is in `misfits`, what has
--   no column is in `extra`; a group is `carries_…` only when the answer speaks of it
told as (
  select form, asset_facts("like") as facts from form
),
parsed as (
  select
    record.* exclude (record),
    record as r,
    is_address(record.id) is true as usable,
    -- Not coalesce, of which DuckDB computes parts for every record beforehand.
    case when told.facts is null then asset_facts(json_extract(line, '$.record')) else told.facts end as facts
  from record
  left join told using (form)
),
typed as (
  select
    *,
    as_slot(r.last_indexed_slot, slot_ceiling) as own_slot,
    as_slot(r.content.last_indexed_slot, slot_ceiling) as own_content_slot,
    as_text(r.interface, line, '$.record.interface') as interface,
    as_text(r.ownership.owner, line, '$.record.ownership.owner') as owner,
    as_text(r.ownership.delegate, line, '$.record.ownership.delegate') as delegate,
    as_text(r.compression.tree, line, '$.record.compression.tree') as tree,
    list_filter(r.grouping, lambda g: g.group_key = 'collection')[1].group_value as collection_read,
    as_boolean(r.compression.compressed) as compressed,
    as_bigint(r.compression.seq) as seq_number,
    as_bigint(r.compression.leaf_id) as leaf_number,
    as_ubigint(r.token_info.supply) as token_supply,
    as_integer(r.token_info.decimals) as token_decimals,
    as_ubigint(r.supply.print_max_supply) as print_max_supply,
    as_ubigint(r.supply.print_current_supply) as print_current_supply,
    as_bigint(r.supply.edition_nonce) as edition_nonce,
    as_double(r.token_info.price_info.price_per_token) as price_per_token,
    as_double(r.royalty.percent) as royalty_percent,
    as_integer(r.royalty.basis_points) as royalty_basis_points,
    list_transform(
      r.creators,
      lambda c: {
        'address': nullif(c.address, ''), 'share': as_integer(c.share), 'verified': as_boolean(c.verified)
      }
    ) as creators
  from parsed
),
valued as (
  select
    *,
    -- Which element of the list it is does not matter: none is of another kind.
    case
      when may_be_no_text(collection_read) then case
        when list_has_all(['VARCHAR', 'NULL'], json_type(line, '$.record.grouping[*].group_value'))
          then collection_read
      end
      else collection_read
    end as collection,
    -- Whether something may be in `misfits`: few records, which are looked at once more.
    not usable
      or facts.odd is not false
      or unfit(nullif(r.last_indexed_slot, '0'), own_slot)
      or unfit(nullif(r.content.last_indexed_slot, '0'), own_content_slot)
      or unfit(r.interface, interface)
      or unfit(r.ownership.owner, owner)
      or unfit(r.ownership.delegate, delegate)
      or unfit(r.compression.tree, tree)
      or unfit(collection_read, collection)
      or unfit(r.ownership.frozen, as_boolean(r.ownership.frozen))
      or unfit(r.ownership.delegated, as_boolean(r.ownership.delegated))
      or unfit(r.compression.compressed, compressed)
      or unfit(r.compression.eligible, as_boolean(r.compression.eligible))
      or unfit(r.compression.leaf_id, leaf_number)
      or unfit(r.compression.seq, seq_number)
      or unfit(r.royalty.percent, royalty_percent)
      or unfit(r.royalty.basis_points, royalty_basis_points)
      or unfit(r.royalty.primary_sale_happened, as_boolean(r.royalty.primary_sale_happened))
      or unfit(r.royalty.locked, as_boolean(r.royalty.locked))
      or unfit(r.supply.print_max_supply, print_max_supply)
      or unfit(r.supply.print_current_supply, print_current_supply)
      or unfit(r.supply.edition_nonce, edition_nonce)
      or unfit(r.token_info.supply, token_supply)
      or unfit(r.token_info.decimals, token_decimals)
      or unfit(r.token_info.price_info.price_per_token, price_per_token)
      or unfit(r.mutable, as_boolean(r.mutable))
      or unfit(r.burnt, as_boolean(r.burnt))
      or list_bool_and(
        list_transform(
          r.creators,
          lambda c: (c.share is null or as_integer(c.share) is not null)
            and (c.verified is null or as_boolean(c.verified) is not null)
        )
      ) is false as doubtful
  from typed
),
opened as (
  select
    *,
    case
      when doubtful then json_extract(
        line,
        [
          '$.record', '$.record.content', '$.record.content.metadata', '$.record.content.links', '$.record.compression',
          '$.record.royalty', '$.record.ownership', '$.record.supply', '$.record.token_info',
          '$.record.token_info.price_info'
        ]
      )
    end as objects,
    case
      when doubtful then from_json(
        line,
        '{
          "record": {
            "creators": "JSON", "grouping": "JSON", "authorities": "JSON",
            "content": {"files": "JSON", "metadata": {"attributes": "JSON"}}
          }
        }'
      ).record
    end as lists
  from valued
),
completed as (
  select
    *,
    case
      -- A map has no order: in that of its keys, so that it is the same however it was written.
      when facts.attributes_mapped then list_sort(
        list_transform(
          map_entries(from_json(line -> '$.record.content.metadata.attributes', '"MAP(VARCHAR, VARCHAR)"')),
          lambda pair: {'trait_type': pair.key, 'value': pair.value}
        )
      )
      else r.content.metadata.attributes
    end as attribute_list
  from opened
)
select
  task,
  crawl,
  page,
  n,
  run_id,
  seen_at,
  -- Where the content alone has a slot, the groups of a text that comes again would have two.
  case when own_slot is not null or own_content_slot is null then digest end as digest,
  own_slot,
  coalesce(own_slot, own_content_slot, page_slot) as slot,
  coalesce(list_contains(carries, 'content'), false) or coalesce(facts.content_shown, false) as carries_content,
  coalesce(own_slot, own_content_slot, page_slot) as content_slot,
  coalesce(list_contains(carries, 'token_info'), false) or coalesce(facts.token_info_shown, false) as carries_token_info,
  coalesce(own_slot, page_slot) as token_info_slot,
  coalesce(facts.supply_shown, false) as carries_supply,
  coalesce(own_slot, page_slot) as supply_slot,
  coalesce(list_contains(carries, 'inscription'), false) or r.inscription is not null as carries_inscription,
  coalesce(own_slot, page_slot) as inscription_slot,
  r.spl20 is not null as carries_spl20,
  coalesce(own_slot, page_slot) as spl20_slot,
  case when usable then r.id end as id,
  interface,
  r.content.metadata.name as name,
  r.content.metadata.symbol as symbol,
  r.content.metadata.description as description,
  r.content.metadata.token_standard as token_standard,
  nullif(r.content.json_uri, '') as json_uri,
  nullif(r.content."$schema", '') as schema_uri,
  nullif(r.content.links.image, '') as image,
  nullif(r.content.links.external_url, '') as external_url,
  nullif(owner, '') as owner,
  r.ownership.ownership_model as ownership_model,
  as_boolean(r.ownership.frozen) as frozen,
  as_boolean(r.ownership.delegated) as delegated,
  nullif(delegate, '') as delegate,
  compressed,
  as_boolean(r.compression.eligible) as eligible,
  nullif(tree, '') as tree,
  case when compressed then leaf_number end as leaf_id,
  case when compressed then seq_number end as seq,
  nullif(r.compression.data_hash, '') as data_hash,
  nullif(r.compression.creator_hash, '') as creator_hash,
  nullif(r.compression.asset_hash, '') as asset_hash,
  nullif(collection, '') as collection,
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
  creators,
  list_transform(
    r.grouping, lambda g: {'group_key': g.group_key, 'group_value': nullif(g.group_value, '')}
  ) as grouping,
  list_transform(
    r.authorities, lambda a: {'address': nullif(a.address, ''), 'scopes': a.scopes}
  ) as authorities,
  attribute_list as attributes,
  list_transform(
    r.content.files, lambda f: {'uri': nullif(f.uri, ''), 'cdn_uri': nullif(f.cdn_uri, ''), 'mime': f.mime}
  ) as files,
  r.inscription,
  r.spl20,
  nullif(
    concat_ws(
      ',',
      case
        when facts.more then unknown_members(
          line -> '$.record',
          '{"last_indexed_slot": null, "interface": null, "id": null, "content": null, "authorities": null,
            "compression": null, "grouping": null, "royalty": null, "creators": null, "ownership": null,
            "supply": null, "mutable": null, "burnt": null, "token_info": null, "inscription": null, "spl20": null}'
        )
      end,
      case
        when facts.more_authorities
          then value_member('authorities', line -> '$.record.authorities')
      end,
      object_member(
        'compression',
        case
          when facts.more_compression then unknown_members(
            line -> '$.record.compression',
            '{"eligible": null, "compressed": null, "data_hash": null, "creator_hash": null, "asset_hash": null,
              "tree": null, "seq": null, "leaf_id": null}'
          )
        end
      ),
      case
        when facts.more_grouping then value_member('grouping', line -> '$.record.grouping')
      end,
      object_member(
        'royalty',
        case
          when facts.more_royalty then unknown_members(
            line -> '$.record.royalty',
            '{"royalty_model": null, "target": null, "percent": null, "basis_points": null,
              "primary_sale_happened": null, "locked": null}'
          )
        end
      ),
      case
        when facts.more_creators
          then value_member('creators', line -> '$.record.creators')
      end,
      object_member(
        'ownership',
        case
          when facts.more_ownership
            then unknown_members(
              line -> '$.record.ownership',
              '{"frozen": null, "delegated": null, "delegate": null, "ownership_model": null, "owner": null}'
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
        when facts.more_content then unknown_members(
          line -> '$.record.content',
          '{"$schema": null, "json_uri": null, "files": null, "metadata": null, "links": null,
            "last_indexed_slot": null}'
        )
      end,
      case
        when facts.more_files
          then value_member('files', line -> '$.record.content.files')
      end,
      object_member(
        'metadata',
        concat_ws(
          ',',
          case
            when facts.more_metadata then unknown_members(
              line -> '$.record.content.metadata',
              '{"attributes": null, "description": null, "name": null, "symbol": null, "token_standard": null}'
            )
          end,
          case
            when facts.more_attributes
              then value_member('attributes', line -> '$.record.content.metadata.attributes')
          end
        )
      ),
      object_member(
        'links',
        case
          when facts.more_links
            then unknown_members(line -> '$.record.content.links', '{"image": null, "external_url": null}')
        end
      )
    )
  ) as content_extra,
  object_member(
    'token_info',
    concat_ws(
      ',',
      case
        when facts.more_token_info then unknown_members(
          line -> '$.record.token_info',
          '{"symbol": null, "supply": null, "decimals": null, "token_program": null, "price_info": null,
            "mint_authority": null, "freeze_authority": null}'
        )
      end,
      object_member(
        'price_info',
        case
          when facts.more_price_info
            then unknown_members(
              line -> '$.record.token_info.price_info', '{"price_per_token": null, "currency": null}'
            )
        end
      )
    )
  ) as token_info_extra,
  object_member(
    'supply',
    case
      when facts.more_supply
        then unknown_members(
          line -> '$.record.supply',
          '{"print_max_supply": null, "print_current_supply": null, "edition_nonce": null}'
        )
    end
  ) as supply_extra,
  case
    when not usable then [
      {
        'column_name': null::varchar,
        'reason': coalesce(refusal, 'no usable id'),
        'raw': coalesce(raw, nullif(objects[1]::varchar, 'null'))
      }
    ]
    when doubtful then list_filter(
      [
        misplaced('content', objects[2]),
        misplaced('metadata', objects[3]),
        misplaced('links', objects[4]),
        misplaced('compression', objects[5]),
        misplaced('royalty', objects[6]),
        misplaced('ownership', objects[7]),
        misplaced('supply', objects[8]),
        misplaced('token_info', objects[9]),
        misplaced('price_info', objects[10]),
        misfit('slot', nullif(r.last_indexed_slot, '0'), own_slot),
        misfit('content_slot', nullif(r.content.last_indexed_slot, '0'), own_content_slot),
        misfit('interface', r.interface, interface),
        misfit('owner', r.ownership.owner, owner),
        misfit('delegate', r.ownership.delegate, delegate),
        misfit('tree', r.compression.tree, tree),
        misfit('collection', collection_read, collection),
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
        misfit('creators', lists.creators, r.creators),
        misfit(
          'creators',
          lists.creators,
          case
            when list_bool_and(
              list_transform(
                coalesce(r.creators, []),
                lambda c: (c.share is null or as_integer(c.share) is not null)
                  and (c.verified is null or as_boolean(c.verified) is not null)
              )
            ) is not false then true
          end
        ),
        misfit('grouping', lists.grouping, r.grouping),
        misfit('authorities', lists.authorities, r.authorities),
        misfit('files', lists.content.files, r.content.files),
        misfit('attributes', lists.content.metadata.attributes, attribute_list),
        odd_element('creators', lists.creators, '$[*]', 'OBJECT'),
        odd_element('grouping', lists.grouping, '$[*]', 'OBJECT'),
        odd_element('authorities', lists.authorities, '$[*]', 'OBJECT'),
        odd_element('authorities', lists.authorities, '$[*].scopes', 'ARRAY'),
        odd_element('files', lists.content.files, '$[*]', 'OBJECT'),
        odd_element('attributes', lists.content.metadata.attributes, '$[*]', 'OBJECT')
      ],
      lambda entry: entry is not null
    )
    else []
  end as misfits
from completed
