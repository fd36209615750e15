-- The rounds that crawl anew what was reset (`run --full-refresh`, `state reset`).
-- grain: one row a round
-- $names, $firsts, $lasts, in one order: job or job/target, the run of the reset, the last run of the round ('': it is open)
create or replace temp table refresh as
select unnest($names::varchar[]) as name, unnest($firsts::varchar[]) as first_run, unnest($lasts::varchar[]) as last_run;
