-- The names and digests of a damaged record file's texts.
-- grain: one row a text
-- $file: the record file. Its column `line` is not read: most damage is there.
select text_segment, text_number, digest
from read_parquet($file)
where digest is not null
