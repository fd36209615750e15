-- The texts of some record files that pages need.
-- grain: one row a text
-- $files: the record files
-- Table `needed_name`: sql/archive/needed-names.sql
select task, crawl, page, n, digest, text_segment, text_number, line
from read_parquet($files)
semi join needed_name using (text_segment, text_number)
