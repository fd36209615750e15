-- table: wallet_transactions
-- grain: one row a wallet and transaction (wallet, signature)
-- key: wallet, signature
-- publish: append
-- feed slot: epoch(added.timestamp)::bigint
-- required: timestamp
create table if not exists wallet_transactions (
  wallet varchar not null,
  signature varchar not null,
  tx_slot bigint,
  timestamp timestamptz,
  fee double,
  fee_payer varchar,
  error varchar,
  balance_changes struct(mint varchar, amount double, decimals integer)[],
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table wallet_transactions is 'Transactions of wallets with the changes of their balances. A later answer fills what is NULL and overwrites nothing.';
comment on column wallet_transactions.wallet is 'Address of the wallet, base58.';
comment on column wallet_transactions.signature is 'Transaction signature, base58.';
comment on column wallet_transactions.tx_slot is 'Slot the transaction is in.';
comment on column wallet_transactions.timestamp is 'Time of that slot; NULL where it is not known.';
comment on column wallet_transactions.fee is 'Fee in whole units of the ledger''s own token, a float.';
comment on column wallet_transactions.fee_payer is 'Address that paid the fee.';
comment on column wallet_transactions.error is 'Why the transaction failed; NULL when it succeeded.';
comment on column wallet_transactions.balance_changes is 'What changed in the wallet, by mint; amount is a float in whole tokens, negative for a decrease.';
comment on column wallet_transactions.extra is 'Fields of the answer that have no column.';
comment on column wallet_transactions.slot is 'NULL: the source says no slot.';
comment on column wallet_transactions.seen_at is 'When the first answer that had it arrived.';
comment on column wallet_transactions.first_seen_slot is 'NULL, as slot.';
comment on column wallet_transactions.changed_slot is 'NULL, as slot.';
comment on column wallet_transactions.run_id is 'Run that received the row, or last filled what was NULL.';
comment on column wallet_transactions.record_hash is 'Hash of the row.';
