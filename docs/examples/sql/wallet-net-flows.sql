-- What did each wallet gain or lose, token by token?
-- Exact: amounts in the smallest unit, summed as HUGEINT. delta(a, b) is a - b where u64 would go below zero.
select
  wallet,
  mint,
  any_value(symbol) as symbol,
  count(*) as transfers,
  coalesce(sum(amount_raw) filter (where direction = 'in'), 0) as received,
  coalesce(sum(amount_raw) filter (where direction = 'out'), 0) as sent,
  received - sent as net,
  net / power(10, any_value(decimals)) as net_tokens,
  min(timestamp) as first_transfer,
  max(timestamp) as last_transfer
from wallet_transfers
group by wallet, mint
order by transfers desc, wallet, mint
limit 50;
