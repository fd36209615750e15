-- Records of one run, by when the last page of their crawl arrived.
-- grain: one row a step with records, oldest first
-- $run: the run. $from: its begin, and $step: the length of a step, Unix ms
select
  ((epoch_ms(finished_at) - $from::bigint) // $step::bigint)::integer as step,
  sum(records)::double as records
from meta.checkpoints
where run_id = $run and finished_at is not null
group by all
order by step
