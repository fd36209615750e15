-- The records of a segment whose text a row was read from already, each with that row's key.
-- grain: one row a record
-- {table}: the table; {key}: its key columns. Tables `received_page`: sql/load/received.sql; `build.texts.{table}`: sql/texts.sql
-- The slot in a text is checked again, because what is plausible depends on the page (sql/macros.sql).
create or replace temp table known as
with received as (
  select
    end_offset,
    slot_ceiling,
    unnest(range(records)) as n,
    unnest(digest_list(digests)) as digest
  from received_page
)
select
  received.end_offset,
  received.n,
  digest,
  {key},
  carried,
  own_slot,
  final,
  row_hash
from received
join build.texts.{table} using (digest)
where own_slot is null or plausible_slot(own_slot, slot_ceiling) is not null;
