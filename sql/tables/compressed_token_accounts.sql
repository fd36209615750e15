-- table: compressed_token_accounts
-- grain: one row a compressed token account (hash)
-- key: hash
-- publish: merge
-- record bytes: 790
-- spent by: compression_transaction
-- history: yes
-- steady: owner, mint, amount, state
-- required: owner, mint, amount
create table if not exists compressed_token_accounts (
  hash varchar not null,
  owner varchar,
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
  record_hash ubigint not null,
  changed_at timestamptz
);
comment on table compressed_token_accounts is 'Token data of compressed accounts, as last seen; the account itself is in compressed_accounts.';
comment on column compressed_token_accounts.hash is 'Hash of the account, base58.';
comment on column compressed_token_accounts.owner is 'Owner of the tokens.';
comment on column compressed_token_accounts.mint is 'Mint of the tokens.';
comment on column compressed_token_accounts.amount is 'Balance in the smallest unit, exact to 2^64 - 1.';
comment on column compressed_token_accounts.delegate is 'Address that may move them.';
comment on column compressed_token_accounts.state is 'initialized or frozen.';
comment on column compressed_token_accounts.tlv is 'Token extensions, base64.';
comment on column compressed_token_accounts.extra is 'Fields of the answer that have no column, under their paths; changes in place without history.';
comment on column compressed_token_accounts.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column compressed_token_accounts.seen_at is 'When the answer that says so arrived.';
comment on column compressed_token_accounts.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column compressed_token_accounts.changed_slot is 'Slot of the answer that last changed the row.';
comment on column compressed_token_accounts.run_id is 'Run that received the last change.';
comment on column compressed_token_accounts.record_hash is 'Hash of the row without extra; moves only when the row changes.';
comment on column compressed_token_accounts.changed_at is 'When the answer that last changed the row arrived.';
