-- Complete checkpoints that later ones of the same target have made superfluous.
-- grain: one row a checkpoint
-- $before: those that finished before it; the newest of a target, range and kind always stays
select rowid as place, task, crawl
from meta.checkpoints
where state = 'complete'
qualify row_number() over (partition by job, target, range, kind order by crawl desc) > 1
  and finished_at < $before::timestamptz
