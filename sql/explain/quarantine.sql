-- What did not fit, with the job and target that received it, and a name of its own.
-- grain: one row an entry of meta.quarantine
-- id: the first 12 digits of an MD5 of all that an entry says; entries that say the same have one
with task as (
  select
    task,
    any_value(job) as job,
    any_value(target) as target
  from meta.checkpoints
  group by task
)
select
  left(
    md5(concat_ws(chr(31), q.table_name, q.task, q.crawl, q.page, q.key, coalesce(q.column_name, ''), q.reason, q.raw)), 12
  ) as id,
  q.table_name as "table",
  t.job,
  t.target,
  q.key,
  q.column_name as "column",
  q.reason,
  q.raw,
  q.task,
  q.crawl,
  q.page::integer as page,
  q.slot
from meta.quarantine as q
left join task as t using (task)
