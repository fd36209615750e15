-- The records of one archived segment that a reload has to read. One whose text the next crawl of the same task has again is left
-- out, because that crawl confirmed the row later; unless the later one came from a replica that was behind, and moved no row.
-- grain: one row a text of the segment
-- $segment: its number. Segments come newest first.
-- Tables `restored_page`, `restored_text`: sql/archive/; `younger_text` (task, crawl, text_segment, text_number, slot): texts of
-- younger crawls, with their pages' slots; `needed_record` (segment, text_segment, text_number). The build is attached.
-- A crawl that is not in the tables is read in full, because it may have to be published, and replaces no other.
create or replace temp table segment_crawl as
with crawl as (
  select distinct task, crawl
  from restored_page
  where task is not null and crawl is not null
)
select
  c.task,
  c.crawl,
  exists (
    from build.meta.checkpoints as p
    where p.task = c.task and p.state = 'complete' and p.crawl >= c.crawl
  ) and not exists (
    from build.meta.checkpoints as p
    where p.task = c.task and p.state <> 'complete' and p.crawl = c.crawl
  ) and not exists (
    from build.meta.refusals as r
    where r.task = c.task and r.crawl = c.crawl and r.accepted_by is null
  ) as is_published,
  (
    select min(f.crawl)
    from younger_text as f
    where f.task = c.task and f.crawl > c.crawl
  ) as next_crawl
from crawl as c;

insert into needed_record
select distinct $segment::bigint, d.text_segment, d.text_number
from restored_text as d
join segment_crawl as o using (task, crawl)
where not o.is_published
  or not exists (
    from younger_text as f
    where f.task = d.task
      and f.crawl = o.next_crawl
      and f.text_segment = d.text_segment
      and f.text_number = d.text_number
      and coalesce(f.slot >= try_cast(d.slot as bigint), true)
  );

-- What is younger than the next crawl is compared with no more.
delete from younger_text as f
where exists (
  from segment_crawl as o
  where o.task = f.task and o.is_published and f.crawl > o.next_crawl
);

-- A first page that was as before has a part of the list only.
insert into younger_text
select d.task, d.crawl, d.text_segment, d.text_number, d.slot::bigint
from restored_text as d
join segment_crawl as o using (task, crawl)
where o.is_published
  and not exists (
    from restored_page as p
    where p.task = d.task and p.crawl = d.crawl and p.page = d.page and (p.line ->> '$.end') = 'unchanged'
  );
