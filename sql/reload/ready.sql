-- The crawls to apply once more: those that were published, and that have all their pages.
-- grain: one row a crawl
-- Table `crawl_state`: sql/publish/crawl-states.sql
create or replace temp table ready as
select
  *,
  -- The slot that it was published with, from its checkpoint (sql/publish/ready.sql).
  coalesce(
    min_slot,
    (
      select max(c.min_slot)
      from meta.checkpoints as c
      where c.task = crawl_state.task and c.crawl = crawl_state.crawl and c.state = 'complete'
    )
  ) as stand_in_slot
from crawl_state
where state = 'published' and ended
