-- The records of an archived segment whose texts are found by their digests.
-- grain: one row a record of a page with digests
-- Table `restored_page`: sql/archive/restored-pages.sql
create or replace temp table restored_digest as
select
  task,
  crawl,
  page,
  slot,
  end_offset,
  unnest(range(records)) as n,
  unnest(digest_list(digests)) as digest
from restored_page
where digests is not null;
