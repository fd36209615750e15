-- Gives each refusal its id. A refusal counted over a job holds back all crawls of the job that have the finding; any other holds back
-- one target. The id is a hash of what the refusal shows and of the last published crawls of its targets: the same finding keeps its
-- id night after night, and gets another one once a crawl of the targets is published.
-- Table `refused`: src/publish/guards.ts
update refused set id = 'r' || left(sha256(shown), 8)
from (
  select task, crawl, guard, for_job, column_name,
    concat_ws(
      '/', job, for_job, guard, column_name, if(whole, '', target),
      string_agg(distinct reason, '/' order by reason) over refusal,
      max(base) over refusal
    ) as shown
  from (
    select
      r.*,
      c.job,
      c.target,
      bool_or(r.whole_job) over (partition by c.job, r.for_job, r.guard, r.column_name) as whole,
      (
        select max(p.crawl)
        from meta.checkpoints as p
        where p.job = c.job and p.target = c.target and p.state = 'complete'
      ) as base
    from refused as r
    join crawl_state as c using (task, crawl)
    where r.guard is not null
  )
  window refusal as (partition by job, for_job, guard, column_name, if(whole, '', target))
) as found
where refused.task = found.task and refused.crawl = found.crawl and refused.guard = found.guard
  and refused.for_job = found.for_job and refused.column_name is not distinct from found.column_name;
