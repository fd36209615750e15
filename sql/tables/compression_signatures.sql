-- table: compression_signatures
-- grain: one row a transaction signature
-- key: signature
-- publish: append
-- record bytes: 220
-- feed slot: added.tx_slot
-- required: tx_slot
create table if not exists compression_signatures (
  signature varchar not null,
  tx_slot bigint,
  block_time timestamptz,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table compression_signatures is 'Signatures of transactions that used the compression program. A later answer fills what is NULL and overwrites nothing.';
comment on column compression_signatures.signature is 'Transaction signature, base58.';
comment on column compression_signatures.tx_slot is 'Slot the transaction is in; several share one.';
comment on column compression_signatures.block_time is 'Time of that slot.';
comment on column compression_signatures.slot is 'Ledger position of the first answer that had it.';
comment on column compression_signatures.seen_at is 'When that answer arrived.';
comment on column compression_signatures.first_seen_slot is 'The same slot.';
comment on column compression_signatures.changed_slot is 'Slot of the last answer that filled what was NULL; else the same slot.';
comment on column compression_signatures.run_id is 'Run that received the row, or last filled what was NULL.';
comment on column compression_signatures.record_hash is 'Hash of the row.';
