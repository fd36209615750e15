-- Records of the ready crawls that were quarantined whole, with every key that their text mentions. One of these is its own, so none
-- of them counts as missed. NULL if it mentions none.
-- grain: one row a record and key
-- $files: staging files of the table; {key} its key
create or replace temp table unreadable as
select
  task,
  crawl,
  unnest(mentioned_keys(cast_errors[1].raw)) as key
from read_parquet($files)
semi join ready using (task, crawl)
where {key} is null;
