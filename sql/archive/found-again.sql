-- Texts whose record file was set aside, as a later record file has them: a text is the same if its digest is.
-- grain: one row a text
-- $lost: the files of lost texts; $files: all record files. Tables `restored_text`: sql/archive/restored-texts.sql;
-- `found_text`: sql/archive/found-texts.sql
insert into found_text
with lost as (
  select distinct text_segment, text_number, digest
  from read_parquet($lost)
  semi join restored_text using (text_segment, text_number)
  anti join found_text using (text_segment, text_number)
),
text as (
  select text_segment, text_number, digest, filename
  from read_parquet($files, filename = true)
),
stored as (
  select digest, min({'segment': text_segment, 'number': text_number, 'filename': filename}) as text
  from text
  semi join lost using (digest)
  group by digest
)
select
  l.text_segment,
  l.text_number,
  l.digest,
  s.text.filename,
  s.text.segment as stored_segment,
  s.text.number as stored_number
from lost as l
join stored as s using (digest);
