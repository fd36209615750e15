-- The records of an archived segment whose texts are found by their names.
-- grain: one row a record of a page with digests
-- Table `restored_page`: sql/archive/restored-pages.sql
create or replace temp table restored_text as
select
  task,
  crawl,
  page,
  slot,
  end_offset,
  unnest(range(records)) as n,
  unnest(text_segments) as text_segment,
  unnest(text_numbers) as text_number
from restored_page
where text_numbers is not null;
