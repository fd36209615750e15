-- Rows just added to a feed's table whose slots were already covered: the source indexed them after the feed was read there.
-- grain: one row
-- $files: the slice's staging files. $end: number of the first row added. {table}, {keys}, {slot}: the table, its key, and
-- what the feed is ordered by. Table `landed`: sql/publish/landed.sql
select count(distinct added.rowid) as n
from {table} as added
join read_parquet($files) as staged using ({keys})
join landed
  on landed.kind = 'page' and landed.feed
  and landed.task = staged.task
  and landed.crawl = staged.crawl
  and landed.page = staged.page
join meta.coverage as c
  on c.state = 'covered'
  and c.job = landed.job
  and c.target = landed.target
  and c.task = landed.task
  and {slot} between c.low_slot and c.high_slot
where added.rowid >= $end
