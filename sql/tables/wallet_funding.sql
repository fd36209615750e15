-- table: wallet_funding
-- grain: one row a wallet whose first funds are known (wallet)
-- key: wallet
-- publish: merge
-- steady: funder, amount, signature
-- required: funder, signature
create table if not exists wallet_funding (
  wallet varchar not null,
  funder varchar,
  funder_name varchar,
  funder_type varchar,
  mint varchar,
  symbol varchar,
  amount double,
  amount_raw ubigint,
  decimals integer,
  signature varchar,
  tx_slot bigint,
  timestamp timestamptz,
  date varchar,
  explorer_url varchar,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table wallet_funding is 'Where the first funds of wallets came from, as last seen; a wallet without a row is not known.';
comment on column wallet_funding.wallet is 'Address of the wallet, base58.';
comment on column wallet_funding.funder is 'Address the funds came from.';
comment on column wallet_funding.funder_name is 'Who that address is known to belong to.';
comment on column wallet_funding.funder_type is 'Kind of that owner, such as exchange.';
comment on column wallet_funding.mint is 'Mint of the token.';
comment on column wallet_funding.symbol is 'Symbol of the token.';
comment on column wallet_funding.amount is 'Amount in whole tokens, a float: not exact.';
comment on column wallet_funding.amount_raw is 'Amount in the smallest unit, exact to 2^64 - 1.';
comment on column wallet_funding.decimals is 'Decimal places of the smallest unit.';
comment on column wallet_funding.signature is 'Signature of the transaction, base58.';
comment on column wallet_funding.tx_slot is 'Slot the transaction is in.';
comment on column wallet_funding.timestamp is 'Time of the transaction; NULL where it is not known.';
comment on column wallet_funding.date is 'The same time as the source writes it.';
comment on column wallet_funding.explorer_url is 'The transaction in the source''s explorer.';
comment on column wallet_funding.extra is 'Fields of the answer that have no column.';
comment on column wallet_funding.slot is 'NULL: the source says no slot; newer wins by seen_at.';
comment on column wallet_funding.seen_at is 'When the answer that says so arrived.';
comment on column wallet_funding.first_seen_slot is 'NULL, as slot.';
comment on column wallet_funding.changed_slot is 'NULL, as slot.';
comment on column wallet_funding.run_id is 'Run that received the last change.';
comment on column wallet_funding.record_hash is 'Hash of the row; moves only when the row changes.';
