-- Records of the ready crawls that were quarantined whole, with the key their text mentions, if it does.
-- grain: one row a record
-- $files: staging files of the table; {key} its key
create or replace temp table unread as
select
  task,
  crawl,
  mentioned_key(misfits[1].raw) as key
from read_parquet($files)
semi join ready using (task, crawl)
where {key} is null;
