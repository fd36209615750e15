-- Sets the crawl that first found what the step quarantined: this one, unless the target had the entry before.
-- Table `quarantined_before`: sql/publish/quarantine.sql
update meta.quarantine set first_crawl = coalesce(
  (
    select min(b.first_crawl)
    from quarantined_before as b
    where b.job = r.job
      and b.target = r.target
      and b.table_name = meta.quarantine.table_name
      and b.record is not distinct from coalesce(meta.quarantine.key, meta.quarantine.raw)
      and b.column_name is not distinct from meta.quarantine.column_name
      and b.reason = meta.quarantine.reason
  ),
  meta.quarantine.crawl
)
from offered as r
where meta.quarantine.task = r.task
  and meta.quarantine.crawl = r.crawl
  and meta.quarantine.first_crawl is null;
