-- Macros that the shapes with compressed accounts and proofs share. They live only in the loader's connection.

-- The compressed account record as text fields; numbers stay text until their macro takes them exactly.
create or replace temp macro parsed_account(account) as
  from_json(
    account,
    '{
      "hash": "VARCHAR", "address": "VARCHAR", "owner": "VARCHAR", "lamports": "VARCHAR", "tree": "VARCHAR",
      "leafIndex": "VARCHAR", "seq": "VARCHAR", "slotCreated": "VARCHAR",
      "data": {"data": "VARCHAR", "dataHash": "VARCHAR", "discriminator": "VARCHAR"},
      "merkleContext": {"tree": "VARCHAR"}
    }'
  );

-- Inside a macro `->` in an argument of another macro keeps the parameter's name as it stands: json_extract does not.

-- The columns of a compressed account. `r` is the record as parsed_account reads it, `keys` the keys of the
-- record and of its data. Newer servers put the tree into merkleContext, which stays whole in `extra`.
create or replace temp macro account_columns(account, r, keys) as {
  'hash': case when is_address(r.hash) then r.hash end,
  'address': nullif(r.address, ''),
  'owner': nullif(as_text(r.owner, account, '$.owner'), ''),
  'lamports': as_ubigint(r.lamports),
  'tree': coalesce(
    nullif(as_text(r.tree, account, '$.tree'), ''),
    nullif(as_text(r.merklecontext.tree, account, '$.merkleContext.tree'), '')
  ),
  'leaf_index': as_bigint(r.leafindex),
  'seq': as_bigint(r.seq),
  'slot_created': as_bigint(r.slotcreated),
  'discriminator': as_ubigint(r.data.discriminator),
  'data': r.data.data,
  'data_hash': nullif(r.data.datahash, ''),
  'extra': concat_ws(
    ',',
    case
      when not list_has_all(
        ['hash', 'address', 'owner', 'lamports', 'tree', 'leafIndex', 'seq', 'slotCreated', 'data'], keys[1]
      ) then unknown_members(
        account,
        '{"hash": null, "address": null, "owner": null, "lamports": null, "tree": null, "leafIndex": null,
          "seq": null, "slotCreated": null, "data": null}'
      )
    end,
    object_member(
      'data',
      case
        when not list_has_all(['data', 'dataHash', 'discriminator'], keys[2])
          then unknown_members(
            json_extract(account, '$.data'), '{"data": null, "dataHash": null, "discriminator": null}'
          )
      end
    )
  ),
  'misfits': [
    misplaced('data', json_extract(account, '$.data')),
    misfit('owner', r.owner, as_text(r.owner, account, '$.owner')),
    misfit('tree', r.tree, as_text(r.tree, account, '$.tree')),
    misfit('tree', r.merklecontext.tree, as_text(r.merklecontext.tree, account, '$.merkleContext.tree')),
    misfit('lamports', r.lamports, as_ubigint(r.lamports)),
    misfit('leaf_index', r.leafindex, as_bigint(r.leafindex)),
    misfit('seq', r.seq, as_bigint(r.seq)),
    misfit('slot_created', r.slotcreated, as_bigint(r.slotcreated)),
    misfit('discriminator', r.data.discriminator, as_ubigint(r.data.discriminator))
  ]
};

-- The compressed token data as text fields.
create or replace temp macro parsed_token(token) as
  from_json(
    token,
    '{
      "mint": "VARCHAR", "owner": "VARCHAR", "amount": "VARCHAR", "delegate": "VARCHAR", "state": "VARCHAR",
      "tlv": "VARCHAR"
    }'
  );

-- The columns of compressed token data. `t` is the data as parsed_token reads it, `keys` its keys.
create or replace temp macro token_columns(token, t, keys) as {
  'owner': nullif(as_text(t.owner, token, '$.owner'), ''),
  'mint': nullif(as_text(t.mint, token, '$.mint'), ''),
  'amount': as_ubigint(t.amount),
  'delegate': nullif(t.delegate, ''),
  'state': t.state,
  'tlv': t.tlv,
  'extra': case
    when not list_has_all(['mint', 'owner', 'amount', 'delegate', 'state', 'tlv'], keys)
      then unknown_members(
        token, '{"mint": null, "owner": null, "amount": null, "delegate": null, "state": null, "tlv": null}'
      )
  end,
  'misfits': [
    misfit('owner', t.owner, as_text(t.owner, token, '$.owner')),
    misfit('mint', t.mint, as_text(t.mint, token, '$.mint')),
    misfit('amount', t.amount, as_ubigint(t.amount))
  ]
};

-- Members as a JSON object; NULL when there are none.
create or replace temp macro extra_object(members) as ('{' || nullif(members, '') || '}')::json;

-- A list of texts; NULL when it is no list.
create or replace temp macro text_list(list) as
  case
    when json_type(list) = 'ARRAY' then from_json(list, '["VARCHAR"]')
  end;

-- A list of whole numbers; NULL when it is no list, or one of them is none.
create or replace temp macro bigint_list(list) as
  case
    when list_bool_and(list_transform(text_list(list), lambda text: text is null or as_bigint(text) is not null))
      is not false
      then list_transform(text_list(list), lambda text: as_bigint(text))
  end;

-- Bytes in base64, from such a text or from a list of byte numbers; NULL when it is neither.
create or replace temp macro base64_bytes(value) as
  case json_type(value)
    when 'VARCHAR' then value ->> '$'
    when 'ARRAY' then case
      when list_bool_and(
        list_transform(text_list(value), lambda text: coalesce(as_bigint(text) between 0 and 255, false))
      ) is not false
        then to_base64(
          unhex(
            array_to_string(list_transform(text_list(value), lambda text: printf('%02x', as_bigint(text))), '')
          )
        )
    end
  end;
