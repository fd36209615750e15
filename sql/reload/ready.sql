-- The crawls to apply once more: those that were published, and that have all their pages.
-- grain: one row a crawl
-- Table `crawl`: sql/publish/crawl.sql
create or replace temp table ready as
select *
from crawl
where state = 'published' and ended
