-- table: compression_transaction_accounts
-- grain: one row an account that a transaction opened or closed
-- key: signature, change, hash
-- publish: append
create table if not exists compression_transaction_accounts (
  signature varchar not null,
  change varchar not null,
  hash varchar not null,
  position bigint,
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
  token_owner varchar,
  mint varchar,
  amount ubigint,
  delegate varchar,
  state varchar,
  tlv varchar,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table compression_transaction_accounts is 'Compressed accounts that transactions opened and closed, as they were then. A later answer fills what is NULL and overwrites nothing.';
comment on column compression_transaction_accounts.signature is 'Signature of the transaction.';
comment on column compression_transaction_accounts.change is 'opened or closed.';
comment on column compression_transaction_accounts.hash is 'Hash of the account.';
comment on column compression_transaction_accounts.position is 'Place in the list of the answer, from 0.';
comment on column compression_transaction_accounts.address is 'Its address, which its successors keep; NULL for an account without one.';
comment on column compression_transaction_accounts.owner is 'Program or wallet that owns it; of a token account the token program.';
comment on column compression_transaction_accounts.lamports is 'Lamports it holds, exact to 2^64 - 1.';
comment on column compression_transaction_accounts.tree is 'State tree it is a leaf of.';
comment on column compression_transaction_accounts.leaf_index is 'Its leaf in the tree.';
comment on column compression_transaction_accounts.seq is 'Sequence number of the tree when it was appended; NULL where the source has none.';
comment on column compression_transaction_accounts.slot_created is 'Slot of the transaction that opened it.';
comment on column compression_transaction_accounts.discriminator is 'Kind of its data, a u64 that the owning program chose; NULL for an account without data.';
comment on column compression_transaction_accounts.data is 'Its data, base64.';
comment on column compression_transaction_accounts.data_hash is 'Hash of its data.';
comment on column compression_transaction_accounts.token_owner is 'Owner of the tokens; NULL, as all token columns, for an account without tokens.';
comment on column compression_transaction_accounts.mint is 'Mint of the tokens.';
comment on column compression_transaction_accounts.amount is 'Balance in the smallest unit, exact to 2^64 - 1.';
comment on column compression_transaction_accounts.delegate is 'Address that may move them.';
comment on column compression_transaction_accounts.state is 'initialized or frozen.';
comment on column compression_transaction_accounts.tlv is 'Token extensions, base64.';
comment on column compression_transaction_accounts.extra is 'Fields of the answer that have no column, under their paths.';
comment on column compression_transaction_accounts.slot is 'Slot of the transaction, as far as the answer says it; NULL otherwise.';
comment on column compression_transaction_accounts.seen_at is 'When that answer arrived.';
comment on column compression_transaction_accounts.first_seen_slot is 'The same slot.';
comment on column compression_transaction_accounts.changed_slot is 'Slot of the last answer that filled what was NULL; else the same slot.';
comment on column compression_transaction_accounts.run_id is 'Run that received the row, or last filled what was NULL.';
comment on column compression_transaction_accounts.record_hash is 'Hash of the row.';
