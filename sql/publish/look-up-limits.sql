-- Whether look-ups that find nothing would close more rows of a job than a ledger loses: it burns assets, and keeps them. Compressed
-- accounts are spent, so of these (`turns_over`) as many may be closed in a run as leave a list (sql/guards/vanished-job.sql).
-- missing: rows of the job without a record; closing: those of them that are closed in this run; total: rows of the job
-- Table `threshold`: warehouse.guards
create or replace temp macro too_many_unknown(missing, closing, total, turns_over) as (
  select
    if(turns_over, closing, missing)
      > greatest(t.rows, total * if(turns_over, t.vanished_job_share, t.vanished_share))
    or (missing >= t.few_rows and missing > total / 2)
  from threshold as t
);
