-- table: compression_transactions
-- grain: one row a transaction (signature)
-- key: signature
-- publish: append
-- record bytes: 3300
-- required: tx_slot
create table if not exists compression_transactions (
  signature varchar not null,
  tx_slot bigint,
  block_time timestamptz,
  transaction varchar,
  opened bigint,
  closed bigint,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table compression_transactions is 'Transactions that used the compression program. A later answer fills what is NULL and overwrites nothing.';
comment on column compression_transactions.signature is 'Signature of the transaction, base58.';
comment on column compression_transactions.tx_slot is 'Slot the answer says it is in; compression_signatures knows it for every signature.';
comment on column compression_transactions.block_time is 'Time of that slot, where the answer says it.';
comment on column compression_transactions.transaction is 'The transaction itself, base64.';
comment on column compression_transactions.opened is 'Compressed accounts it opened.';
comment on column compression_transactions.closed is 'Compressed accounts it closed.';
comment on column compression_transactions.extra is 'Fields of the answer that have no column, under their paths.';
comment on column compression_transactions.slot is 'Slot of the transaction, as far as the answer says it; NULL otherwise.';
comment on column compression_transactions.seen_at is 'When that answer arrived.';
comment on column compression_transactions.first_seen_slot is 'The same slot.';
comment on column compression_transactions.changed_slot is 'Slot of the last answer that filled what was NULL; else the same slot.';
comment on column compression_transactions.run_id is 'Run that received the row, or last filled what was NULL.';
comment on column compression_transactions.record_hash is 'Hash of the row.';
