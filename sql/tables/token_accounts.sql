-- table: token_accounts
-- grain: one row a token account (address)
-- key: address
-- publish: merge
-- record bytes: 330
-- history: yes
-- steady: mint, owner, amount, frozen
-- required: mint, owner, amount
-- texts: yes
-- followed: yes
create table if not exists token_accounts (
  address varchar not null,
  mint varchar,
  owner varchar,
  amount ubigint,
  delegated_amount ubigint,
  frozen boolean,
  burnt json,
  delegate varchar,
  close_authority varchar,
  extensions json,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null,
  changed_at timestamptz,
  followed boolean
);
comment on table token_accounts is 'Token accounts, as last seen.';
comment on column token_accounts.address is 'Address of the token account, base58.';
comment on column token_accounts.mint is 'Mint of the token it holds.';
comment on column token_accounts.owner is 'Owner of the account.';
comment on column token_accounts.amount is 'Balance in the smallest unit, exact to 2^64 - 1.';
comment on column token_accounts.delegated_amount is 'Part of it that a delegate may move.';
comment on column token_accounts.frozen is 'Whether the account is frozen.';
comment on column token_accounts.burnt is 'As given; the source leaves its type open.';
comment on column token_accounts.delegate is 'Address that may move delegated_amount.';
comment on column token_accounts.close_authority is 'Address that may close the account.';
comment on column token_accounts.extensions is 'Token extensions, as given.';
comment on column token_accounts.extra is 'Fields of the answer that have no column; changes in place without history.';
comment on column token_accounts.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column token_accounts.seen_at is 'When the answer that says so arrived.';
comment on column token_accounts.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column token_accounts.changed_slot is 'Slot of the answer that last changed the row.';
comment on column token_accounts.run_id is 'Run that received the last change.';
comment on column token_accounts.record_hash is 'Hash of the row without extra; moves only when the row changes.';
comment on column token_accounts.changed_at is 'When the answer that last changed the row arrived.';
comment on column token_accounts.followed is 'Whether a target that a job has now should show the row; NULL until a run has read the targets of every job.';
