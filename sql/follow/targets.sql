-- The targets that jobs have now and that were crawled to the end, in the tables that sql/members/ (`listed`) and sql/asked/ (`ready`
-- and `requested_id`) read.
-- grain: one row a target; of `requested_id`, one a target and id
-- Table `chosen_target`: job and target of each
create or replace temp table ready as
select
  job || '/' || target as task,
  crawl,
  operation,
  params::json as params
from meta.target_params
semi join chosen_target using (job, target);

create or replace temp table listed as
select *
from ready;

create or replace temp table requested_id as
select
  job || '/' || target as task,
  crawl,
  1::bigint as page,
  unnest(ids) as id
from meta.target_params
semi join chosen_target using (job, target);
