-- table: wallet_balances
-- grain: one row a wallet and mint (wallet, mint)
-- key: wallet, mint
-- publish: merge
-- history: yes
-- volatile: price_per_token, usd_value
-- steady: balance, decimals
-- required: balance
create table if not exists wallet_balances (
  wallet varchar not null,
  mint varchar not null,
  symbol varchar,
  name varchar,
  balance double,
  decimals integer,
  price_per_token double,
  usd_value double,
  logo_uri varchar,
  token_program varchar,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null,
  changed_at timestamptz
);
comment on table wallet_balances is 'What wallets hold of each token, as last seen. Amounts and values are floats; exact amounts are in token_accounts.';
comment on column wallet_balances.wallet is 'Address of the wallet, base58.';
comment on column wallet_balances.mint is 'Mint of the token; the ledger''s own token has one too.';
comment on column wallet_balances.symbol is 'Symbol of the token.';
comment on column wallet_balances.name is 'Name of the token.';
comment on column wallet_balances.balance is 'Amount in whole tokens, a float: not exact. Several entries of the mint in one answer are summed; extra.summed has them as given.';
comment on column wallet_balances.decimals is 'Decimal places of the smallest unit.';
comment on column wallet_balances.price_per_token is 'Price in US dollars, up to 600 s old; only the top 10,000 tokens by 24-hour volume have one. Changes in place.';
comment on column wallet_balances.usd_value is 'balance at that price: up to 600 s old, top 10,000 tokens only. Changes in place.';
comment on column wallet_balances.logo_uri is 'URI of the token''s logo.';
comment on column wallet_balances.token_program is 'Program that owns the token accounts.';
comment on column wallet_balances.extra is 'Fields of the answer that have no column, and `summed`; changes in place without history.';
comment on column wallet_balances.slot is 'NULL: the source says no slot; newer wins by seen_at.';
comment on column wallet_balances.seen_at is 'When the answer that says so arrived.';
comment on column wallet_balances.first_seen_slot is 'NULL, as slot.';
comment on column wallet_balances.changed_slot is 'NULL, as slot.';
comment on column wallet_balances.run_id is 'Run that received the last change.';
comment on column wallet_balances.record_hash is 'Hash of the row without prices and extra; moves only when the row changes.';
comment on column wallet_balances.changed_at is 'When the answer that last changed the row arrived.';
