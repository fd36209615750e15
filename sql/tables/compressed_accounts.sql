-- table: compressed_accounts
-- grain: one row a compressed account (hash)
-- key: hash
-- publish: merge
-- record bytes: 580
-- spent by: compression_transaction
-- history: yes
-- steady: owner, lamports, tree, leaf_index
-- required: owner, lamports, tree
create table if not exists compressed_accounts (
  hash varchar not null,
  address varchar,
  owner varchar,
  lamports ubigint,
  tree varchar,
  leaf_index bigint,
  seq bigint,
  slot_created bigint,
  discriminator ubigint,
  data varchar,
  data_hash varchar,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null,
  changed_at timestamptz
);
comment on table compressed_accounts is 'Compressed accounts, as last seen. A change closes an account and opens another, with a new hash.';
comment on column compressed_accounts.hash is 'Hash of the account, base58.';
comment on column compressed_accounts.address is 'Its address, which its successors keep; NULL for an account without one.';
comment on column compressed_accounts.owner is 'Program or wallet that owns it; of a token account the token program.';
comment on column compressed_accounts.lamports is 'Lamports it holds, exact to 2^64 - 1.';
comment on column compressed_accounts.tree is 'State tree it is a leaf of.';
comment on column compressed_accounts.leaf_index is 'Its leaf in the tree.';
comment on column compressed_accounts.seq is 'Sequence number of the tree when it was appended; NULL where the source has none.';
comment on column compressed_accounts.slot_created is 'Slot of the transaction that opened it.';
comment on column compressed_accounts.discriminator is 'Kind of its data, a u64 that the owning program chose; NULL for an account without data.';
comment on column compressed_accounts.data is 'Its data, base64.';
comment on column compressed_accounts.data_hash is 'Hash of its data.';
comment on column compressed_accounts.extra is 'Fields of the answer that have no column, under their paths.';
comment on column compressed_accounts.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column compressed_accounts.seen_at is 'When the answer that says so arrived.';
comment on column compressed_accounts.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column compressed_accounts.changed_slot is 'Slot of the answer that last changed the row.';
comment on column compressed_accounts.run_id is 'Run that received the last change.';
comment on column compressed_accounts.record_hash is 'Hash of the row; moves only when the row changes.';
comment on column compressed_accounts.changed_at is 'When the answer that last changed the row arrived.';
