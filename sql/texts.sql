-- What a table whose header says `-- texts: yes` has beside it: the text that each of its rows was last read from, told by
-- its digest, once for every kind of question. Which text comes again need not be read again.
-- {table} stands for its name, {key} for its key columns.
-- grain: one row a digest (src/landing/record-digests.ts)
-- A digest counts only while the row is what the text made of it: row_hash is that of the groups and the volatile columns
-- that the text carries (src/load/text-hash.ts), and publish compares it with the row. So a digest may outlive its row.
create schema if not exists texts;

-- carried: the named groups that the text carries, a bit each, in the order of the table's header.
-- own_slot: the slot that stands in the text, which all its groups have; NULL where they have the page's.
-- final: whether the text says that the row is final (the table's header), by which publish finds its slot.
create table if not exists texts.{table} as
select
  null::uuid as digest,
  {key},
  null::utinyint as carried,
  null::bigint as own_slot,
  null::boolean as final,
  null::ubigint as row_hash
from {table}
where false;
