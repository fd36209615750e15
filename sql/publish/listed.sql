-- The ready crawls that also say what a target does not have: complete walks by key, and lists that one answer
-- holds. Page numbers on a moving list miss rows that are there; feeds and incremental crawls end before the rest.
-- grain: one row a crawl
-- unsure: one of its records, which was quarantined whole, may be any row
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
  ) as unsure
from ready as r
join page as p using (task, crawl)
where r.mode = 'full'
  and r.slices = 0
  and r.end_reason = 'exhausted'
  and (not p.by_number or p.filled <= 1);
