-- table: wallet_transfers
-- grain: one row a transfer (wallet, signature, position)
-- key: wallet, signature, position
-- publish: append
-- feed slot: epoch(added.timestamp)::bigint
-- required: mint, amount
create table if not exists wallet_transfers (
  wallet varchar not null,
  signature varchar not null,
  position integer not null,
  timestamp timestamptz,
  direction varchar,
  counterparty varchar,
  mint varchar,
  symbol varchar,
  amount double,
  amount_raw ubigint,
  decimals integer,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table wallet_transfers is 'Transfers in and out of wallets. A later answer fills what is NULL and overwrites nothing.';
comment on column wallet_transfers.wallet is 'Address of the wallet, base58.';
comment on column wallet_transfers.signature is 'Signature of its transaction, base58.';
comment on column wallet_transfers.position is 'Number of the transfer within its signature, from 0, in the order of the answer.';
comment on column wallet_transfers.timestamp is 'Time of the transaction; NULL where it is not known.';
comment on column wallet_transfers.direction is 'in or out, as the wallet sees it.';
comment on column wallet_transfers.counterparty is 'Address on the other side.';
comment on column wallet_transfers.mint is 'Mint of the token.';
comment on column wallet_transfers.symbol is 'Symbol of the token.';
comment on column wallet_transfers.amount is 'Amount in whole tokens, a float: not exact.';
comment on column wallet_transfers.amount_raw is 'Amount in the smallest unit, exact to 2^64 - 1.';
comment on column wallet_transfers.decimals is 'Decimal places of the smallest unit.';
comment on column wallet_transfers.extra is 'Fields of the answer that have no column.';
comment on column wallet_transfers.slot is 'NULL: the source says no slot.';
comment on column wallet_transfers.seen_at is 'When the first answer that had it arrived.';
comment on column wallet_transfers.first_seen_slot is 'NULL, as slot.';
comment on column wallet_transfers.changed_slot is 'NULL, as slot.';
comment on column wallet_transfers.run_id is 'Run that received the row, or last filled what was NULL.';
comment on column wallet_transfers.record_hash is 'Hash of the row.';
