-- The texts of a segment's records: their digests, and where each is stored: the record file, and its name there.
-- grain: one row a text
-- $files: all of the archive's. Table `restored_text`: sql/archive/restored-texts.sql
create or replace temp table found_text as
with text as (
  select text_segment, text_number, digest, filename
  from read_parquet($files, filename = true)
)
-- A kill while texts were moved may have left one in two files.
select
  text_segment,
  text_number,
  any_value(digest) as digest,
  any_value(filename) as filename,
  text_segment as stored_segment,
  text_number as stored_number
from text
semi join restored_text using (text_segment, text_number)
group by text_segment, text_number;
