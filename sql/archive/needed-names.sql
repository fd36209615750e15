-- The texts that pages need of other segments' record files.
-- grain: one row a text
-- $pages: the archived page files that stay
create or replace temp table needed_name as
-- Files of older versions name no texts.
with page as (
  select null::bigint[] as text_segments, null::integer[] as text_numbers
  where false
  union all by name
  select * exclude (line)
  from read_parquet($pages, union_by_name = true)
)
select distinct
  unnest(text_segments) as text_segment,
  unnest(text_numbers) as text_number
from page
where text_numbers is not null;
