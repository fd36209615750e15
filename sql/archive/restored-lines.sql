-- Puts the digests of a segment's records back in its page lines.
-- grain: one row a page with digests
-- Tables: sql/archive/restored-texts.sql, sql/archive/found-texts.sql
update restored_page
set line = replace(restored_page.line, '"digests":""', '"digests":"' || restored.digests || '"')
from (
  select
    end_offset,
    base64(unhex(replace(string_agg(f.digest::varchar, '' order by r.n), '-', ''))) as digests
  from restored_text as r
  join found_text as f using (text_segment, text_number)
  group by end_offset
) as restored
where restored_page.end_offset = restored.end_offset and restored_page.text_numbers is not null
