-- Compressed accounts that a transaction closed: they are spent, and nothing opens them again.
-- grain: one row an account
select
  hash as key,
  max(slot) as slot,
  max(seen_at) as at,
  'spent' as reason
from compression_transaction_accounts
where change = 'closed'
group by hash
