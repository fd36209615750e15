-- The texts that pages need of other segments' record files.
-- grain: one row a text
-- $pages: the archived page files that stay
create or replace temp table needed_name as
select distinct
  unnest(text_segments) as text_segment,
  unnest(text_numbers) as text_number
from read_parquet($pages)
where text_numbers is not null;
