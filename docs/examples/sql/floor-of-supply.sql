-- What do the known accounts of each token hold together, and how much of its supply is that?
-- A floor: accounts that no job asks for are missing. (The sample API draws amounts at random: there it may be more than all.)
with held as (
  select mint, count(*) as accounts, sum(amount) as held
  from token_accounts
  where burnt is distinct from true
  group by mint
)
select
  h.mint,
  a.token_symbol,
  h.accounts,
  h.held,
  a.token_supply,
  case when a.token_supply > 0 then round(100 * h.held::double / a.token_supply, 2) end as held_percent
from held as h
left join assets as a on a.id = h.mint
order by h.accounts desc, h.mint
limit 50;
