-- The records of a segment whose texts are not known, by page.
-- grain: one row a page that has some
-- Tables `received_page`: sql/load/received.sql; `known`: sql/load/known.sql
with received as (
  select end_offset, unnest(range(records)) as n
  from received_page
)
select end_offset as page, list(n::integer order by n) as numbers
from received
anti join known using (end_offset, n)
group by end_offset
