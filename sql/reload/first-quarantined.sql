-- Restores the crawl that first found what a reload found again. What only the reload found is its own crawl's.
-- Table `quarantined_before`: sql/reload/cast-errors.sql
update meta.quarantine set first_crawl = r.crawl
from ready as r
where meta.quarantine.task = r.task and meta.quarantine.crawl = r.crawl;

update meta.quarantine set first_crawl = b.first_crawl
from quarantined_before as b
where b.task = meta.quarantine.task
  and b.crawl = meta.quarantine.crawl
  and b.table_name = meta.quarantine.table_name
  and b.record is not distinct from coalesce(meta.quarantine.key, meta.quarantine.raw)
  and b.column_name is not distinct from meta.quarantine.column_name
  and b.reason = meta.quarantine.reason;
