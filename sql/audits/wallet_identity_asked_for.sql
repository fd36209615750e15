-- audit: every identity is of a wallet that was asked for
-- table: wallet_identities
-- returns the rows of ready crawls that break it: an answer to another question must not enter the table
-- $files: staging files of the ready crawls for this table
select
  s.task,
  s.crawl,
  'wallet ' || s.answered || ' was not asked for' as problem
from read_parquet($files) as s
join ready as r using (task, crawl)
where s.wallet is not null
  and (
    s.answered <> s.wallet
    or (
      r.slices > 0
      and not exists (
        from requested_id as a
        where a.task = s.task and a.crawl = s.crawl and a.page = s.page and a.id = s.wallet
      )
    )
  )
