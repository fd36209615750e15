-- Compressed accounts that are spent, for ever: those that a transaction closed, and those whose address a later account has. An
-- address has one account at a time.
-- grain: one row a hash
create or replace temp table spent as
select
  hash as key,
  max(slot) as slot,
  max(seen_at) as at,
  'spent' as reason
from (
  select
    hash,
    slot,
    seen_at
  from compression_transaction_accounts
  where change = 'closed'
  union all
  select
    old.hash,
    new.slot,
    new.seen_at
  from compressed_accounts as old
  join compressed_accounts as new
    on new.address = old.address
      and (new.slot_created > old.slot_created or new.slot_created = old.slot_created and new.seq > old.seq)
)
group by hash;
