-- guard: vanished
-- needs: unknown_count
-- Look-ups would close more rows of a job, because they find nothing, than a ledger loses: it burns assets, and keeps them. Compressed
-- accounts are spent, so of these as many may leave in a run as of a list (vanished-job.sql).
-- grain: one row a crawl that requested rows by key, and job that missed them first
-- Table `unknown_count`: sql/publish/unknown.sql. `threshold`: warehouse.guards
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
cross join threshold as t
where case
  when u.turns_over then u.closing > greatest(t.rows, u.total * t.vanished_job_share)
  else u.rows + u.before > greatest(t.rows, u.total * t.vanished_share)
end
  or (u.rows + u.before >= t.few_rows and u.rows + u.before > u.total / 2)
