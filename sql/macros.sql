-- Macros that the shapes share. They live only in the loader's connection.

-- A whole number as HUGEINT, exactly; NULL when the text is anything else. `5.0` and `1e3` are whole numbers,
-- `1.5` is not (a plain cast would round it), nor is what a plain cast would also take (`0x10`, `1_000`, ` 5`). With an
-- exponent only up to 15 digits: a double holds no more of them.
create or replace temp macro whole_number(text) as
  case
    when regexp_full_match(text, '-?[0-9]{1,38}(\.0+)?') then try_cast(text as hugeint)
    when regexp_full_match(text, '-?[0-9.]{1,16}[eE][+-]?[0-9]+')
      and regexp_full_match(text, '-?[0-9]+(\.[0-9]+)?[eE].*')
      and try_cast(text as double) = trunc(try_cast(text as double))
      and abs(try_cast(text as double)) < 9007199254740992
      then try_cast(try_cast(text as double) as hugeint)
  end;

create or replace temp macro as_ubigint(text) as try_cast(whole_number(text) as ubigint);

create or replace temp macro as_bigint(text) as try_cast(whole_number(text) as bigint);

-- A slot that stands in a record. 0 says "not indexed yet", and one from the far future would keep out every later answer:
-- `ceiling` is the highest that could be right when its page came (src/crawl/slot-ceiling.ts).
create or replace temp macro plausible_slot(slot, ceiling) as case when slot between 1 and ceiling then slot end;

-- The ceiling that a page's line says. Lines of older folders say none: as where nobody knows when the page's slot was seen
-- (`highestSlot`; test/unit/crawl/poison.test.ts holds the two together).
create or replace temp macro page_ceiling(ceiling, slot) as coalesce(ceiling, slot + 800000000, 10000000000);

create or replace temp macro as_slot(text, ceiling) as plausible_slot(as_bigint(text), ceiling);

create or replace temp macro as_integer(text) as try_cast(whole_number(text) as integer);

-- A number as JSON has it; NULL for what a plain cast would also take (`NaN`, `inf`, `1_000`) and for 1e400.
create or replace temp macro as_double(text) as
  case
    when regexp_full_match(text, '-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?') and isfinite(try_cast(text as double))
      then try_cast(text as double)
  end;

create or replace temp macro as_boolean(text) as
  case text
    when 'true' then true
    when 'false' then false
  end;

-- Unix seconds; NULL outside the years DuckDB can show.
create or replace temp macro as_time(text) as
  case
    when as_bigint(text) between -62135596800 and 253402300799 then to_timestamp(as_bigint(text))
  end;

-- 32 bytes in base58, as every key in this model is.
create or replace temp macro is_address(text) as regexp_full_match(text, '[1-9A-HJ-NP-Za-km-z]{32,44}');

create or replace temp macro is_signature(text) as regexp_full_match(text, '[1-9A-HJ-NP-Za-km-z]{64,88}');

-- True for what an object, a list, a number or a boolean reads as. Few texts read so too, and of these no address, which
-- has 32 to 44 letters; a number as long as one is taken for it.
create or replace temp macro may_be_no_text(text) as
  left(text, 1) in ('{', '[')
    or (length(text) not between 32 and 44 and left(text, 1) in ('-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 't', 'f'));

-- `text` as read from `path` in `object` (JSON), where it stands there as text; NULL when it is of another kind. The
-- inner case is looked at for few records, as no function in a conjunction would be.
create or replace temp macro as_text(text, object, path) as
  case
    when may_be_no_text(text) then case when json_type(object, path) = 'VARCHAR' then text end
    else text
  end;

-- A quarantine entry when `raw` says something that `value` could not hold, else NULL.
create or replace temp macro cast_error(column_name, raw, value) as
  case
    when raw is not null and value is null and raw::varchar <> ''
      then {'column_name': column_name, 'reason': 'does not fit its type', 'raw': raw::varchar}
  end;

-- True when `raw` says something that `value` could not hold.
create or replace temp macro is_cast_error(raw, value) as raw <> '' and value is null;

-- A quarantine entry when `value`, which stands in an object's place, is no object. "" means none.
create or replace temp macro object_cast_error(column_name, value) as
  case
    when json_type(value) not in ('OBJECT', 'NULL') and coalesce(json_extract_string(value, '$'), '') <> ''
      then {'column_name': column_name, 'reason': 'is not an object', 'raw': json_extract_string(value, '$')::varchar}
  end;

-- A quarantine entry when a list has an element (or a member of its elements) of another kind. `list` is JSON, `path`
-- leads to what must be of the kind.
create or replace temp macro element_cast_error(column_name, list, path, kind) as
  case
    when json_type(list) = 'ARRAY' and not list_has_all([kind, 'NULL'], json_type(list, path))
      then {
        'column_name': column_name, 'reason': 'has an element of another kind than ' || lower(kind), 'raw': list::varchar
      }
  end;

-- True when a list has an element (or a member of its elements) of another kind.
create or replace temp macro has_cast_error_element(list, path, kind) as
  coalesce(json_type(list) = 'ARRAY' and not list_has_all([kind, 'NULL'], json_type(list, path)), false);

-- The members of a JSON object that `known` (an object of nulls) does not name, as text without the braces.
create or replace temp macro unknown_members(object, known) as
  nullif((json_merge_patch(object, known)::varchar)[2:-2], '');

-- `"name":{members}`, or NULL when there are none.
create or replace temp macro object_member(name, members) as '"' || name || '":{' || nullif(members, '') || '}';

-- `"name":value`, or NULL when there is none.
create or replace temp macro value_member(name, value) as '"' || name || '":' || value::varchar;

-- True when an element of a JSON list has keys that are not named.
create or replace temp macro has_unknown_element(list, known) as
  list is not null and not list_has_all(known, flatten(json_keys(list, '$[*]')));

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
