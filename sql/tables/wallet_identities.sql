-- table: wallet_identities
-- grain: one row a wallet that somebody is known to own (wallet)
-- key: wallet
-- publish: merge
-- unordered: tags, domain_names
-- steady: name, type
create table if not exists wallet_identities (
  wallet varchar not null,
  type varchar,
  name varchar,
  category varchar,
  tags varchar[],
  domain_names varchar[],
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table wallet_identities is 'Who wallets are known to belong to, as last seen; a wallet without a row is unknown.';
comment on column wallet_identities.wallet is 'Address of the wallet, base58.';
comment on column wallet_identities.type is 'Kind of owner, such as exchange.';
comment on column wallet_identities.name is 'Name of the owner.';
comment on column wallet_identities.category is 'Category of the owner.';
comment on column wallet_identities.tags is 'Tags of the owner, in no order that means anything.';
comment on column wallet_identities.domain_names is 'Domain names of the wallet, in no order that means anything.';
comment on column wallet_identities.extra is 'Fields of the answer that have no column.';
comment on column wallet_identities.slot is 'NULL: the source says no slot; newer wins by seen_at.';
comment on column wallet_identities.seen_at is 'When the answer that says so arrived.';
comment on column wallet_identities.first_seen_slot is 'NULL, as slot.';
comment on column wallet_identities.changed_slot is 'NULL, as slot.';
comment on column wallet_identities.run_id is 'Run that received the last change.';
comment on column wallet_identities.record_hash is 'Hash of the row; moves only when the row changes.';
