-- Targets that their job does not have any more: how far they are is not how far the job is.
-- grain: one row a target
-- $jobs, $targets: of each its job and its name
create or replace temp table former as
select unnest($jobs::varchar[]) as job, unnest($targets::varchar[]) as target
