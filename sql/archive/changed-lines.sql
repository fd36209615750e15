-- A line of an archived page file that is not what it was, if there is one.
-- grain: one row
-- Table `restored_page`: sql/archive/restored-pages.sql, its digests not yet put back
select line_number
from restored_page
where md5(line || coalesce(text_segments::varchar || text_numbers::varchar, '')) <> line_md5
limit 1
