-- The tokens with the most accounts.
-- grain: one row a mint; at most 12
-- amount: the sum of all balances in the token's smallest unit, as text: it may be above 2^53
with held as (
  select mint, owner, sum(amount) as amount, count(*) as accounts
  from token_accounts
  where mint is not null
  group by
    mint,
    owner
)
select
  mint,
  sum(accounts)::varchar as accounts,
  count(owner) filter (where amount > 0)::varchar as holders,
  sum(amount)::varchar as amount,
  coalesce(max(amount)::double / nullif(sum(amount)::double, 0), 0) as top_share
from held
group by mint
order by
  sum(accounts) desc,
  mint
limit 12
