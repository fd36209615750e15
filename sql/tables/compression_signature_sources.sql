-- table: compression_signature_sources
-- grain: one row a signature and list it was seen in
-- key: signature, source, address
-- publish: append
create table if not exists compression_signature_sources (
  signature varchar not null,
  source varchar not null,
  address varchar not null,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table compression_signature_sources is 'Which list each signature was seen in.';
comment on column compression_signature_sources.signature is 'Transaction signature, base58.';
comment on column compression_signature_sources.source is 'latest (all transactions), owner (a token owner''s) or address (an address''s).';
comment on column compression_signature_sources.address is 'The owner or address asked for; empty for latest.';
comment on column compression_signature_sources.slot is 'Ledger position of the first answer that had it.';
comment on column compression_signature_sources.seen_at is 'When that answer arrived.';
comment on column compression_signature_sources.first_seen_slot is 'The same slot: these rows never change.';
comment on column compression_signature_sources.changed_slot is 'The same slot: these rows never change.';
comment on column compression_signature_sources.run_id is 'Run that received it.';
comment on column compression_signature_sources.record_hash is 'Hash of the row.';
