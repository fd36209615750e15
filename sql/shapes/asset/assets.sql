-- shape: asset, table: assets
-- after: typed
-- The collection is the first group whose key says so. Which element of the list it is does not matter: none is of another
-- kind where all are text.
collected as (
  select
    *,
    list_filter(r.grouping, lambda one: one.group_key = 'collection')[1].group_value as collection_read,
    case
      when may_be_no_text(collection_read) then case
        when list_has_all(['VARCHAR', 'NULL'], json_type(line, '$.record.grouping[*].group_value'))
          then collection_read
      end
      else collection_read
    end as collection_text
  from typed
),
