-- The records of a segment whose text the archive does not have yet, each text once.
-- grain: one row a record
-- Tables `page`: sql/archive/pages.sql; `known_digest`: texts that the archive has. $segment: the segment's number.
-- A text is named for ever by the segment that brought it and its number there, wherever it is moved.
create or replace temp table new_text as
with record as (
  select
    line_number,
    task,
    crawl,
    page,
    unnest(range(records)) as n,
    unnest(digest_list(digests)) as digest
  from page
  where kind = 'page' and records > 0
),
-- Of a night in which little changed, few: only they are looked through for those that come twice.
new_record as (
  from record
  anti join known_digest using (digest)
),
told_once as (
  select unnest(first), digest
  from (
    select
      digest,
      min({'line_number': line_number, 'task': task, 'crawl': crawl, 'page': page, 'n': n}) as first
    from new_record
    group by digest
  )
)
select
  task,
  crawl,
  page,
  n,
  digest,
  $segment::bigint as text_segment,
  (row_number() over (order by line_number, n))::integer as text_number
from told_once;
