-- Runs that began before a moment.
-- $before: the moment
delete from meta.runs
where started_at < $before::timestamptz
