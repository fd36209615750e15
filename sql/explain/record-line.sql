-- Lines of a segment's record file, exactly.
-- grain: one row a record
-- $records: the record file; $largest: bytes of the longest line that may come; $pattern: regular expression of its head
select json::varchar as line
from read_ndjson_objects($records, maximum_object_size = $largest)
where regexp_matches(left(json::varchar, 400), $pattern)
