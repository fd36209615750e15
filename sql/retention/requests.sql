-- The requests of runs that began before a moment.
-- $before: the moment
delete from meta.requests
where run_id in (
  select run_id from meta.runs where started_at < $before::timestamptz
)
