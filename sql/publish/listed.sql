-- The ready crawls that show all rows of their target: complete crawls. Feeds and incremental ones end before the rest of the list.
-- grain: one row a crawl
-- by_number: it has several pages by number, which miss rows of a list that moves: what it does not show has to be missed twice
-- unsure: a record of it was quarantined whole and mentions no key, so it may be any row
-- Table `unreadable` (task, crawl, key): records that were quarantined whole, NULL for those that mention no key.
create or replace temp table listed as
with page as (
  select
    task,
    crawl,
    bool_or(page_number is not null) as by_number,
    count(*) filter (where records > 0) as filled
  from landed
  where kind = 'page'
  group by
    task,
    crawl
)
select
  r.*,
  exists (
    from unreadable as u
    where u.task = r.task and u.crawl = r.crawl and u.key is null
  ) as unsure,
  p.by_number and p.filled > 1 as by_number
from ready as r
join page as p using (task, crawl)
where r.mode = 'full'
  and r.slices = 0
  and r.end_reason = 'exhausted';
