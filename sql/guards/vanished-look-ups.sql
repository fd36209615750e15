-- guard: vanished
-- needs: unknown_count
-- Look-ups would close more rows of a job, because they find nothing, than a ledger loses (sql/publish/look-up-limits.sql).
-- grain: one row a crawl that requested rows by key, and job that missed them first
-- Table `unknown_count`: sql/publish/unknown.sql
select
  task,
  crawl,
  u.job as accept_job,
  true as whole_job,
  table_name,
  null::varchar as column_name,
  u.rows + u.before as rows,
  u.total,
  u.examples,
  format('{} of {} rows of the job are unknown to the look-ups', u.rows + u.before, u.total) as problem
from unknown_count as u
where too_many_unknown(u.rows + u.before, u.closing, u.total, u.turns_over)
