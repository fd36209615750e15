-- table: validity_proofs
-- grain: one row a question (request_key)
-- key: request_key
-- publish: merge
create table if not exists validity_proofs (
  request_key varchar not null,
  hashes varchar[],
  new_addresses struct(address varchar, tree varchar)[],
  proof_a varchar,
  proof_b varchar,
  proof_c varchar,
  leaves varchar[],
  leaf_indices bigint[],
  trees varchar[],
  roots varchar[],
  root_indices bigint[],
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table validity_proofs is 'Proofs that accounts are valid and new addresses free, as last answered.';
comment on column validity_proofs.request_key is 'Hash of the parameters.';
comment on column validity_proofs.hashes is 'Hashes of the accounts that were asked for.';
comment on column validity_proofs.new_addresses is 'New addresses that were asked for.';
comment on column validity_proofs.proof_a is 'Part a of the proof, base64.';
comment on column validity_proofs.proof_b is 'Part b of the proof, base64.';
comment on column validity_proofs.proof_c is 'Part c of the proof, base64.';
comment on column validity_proofs.leaves is 'Leaves proved: first the accounts, then the new addresses; the other lists run parallel.';
comment on column validity_proofs.leaf_indices is 'Index of each leaf in its tree.';
comment on column validity_proofs.trees is 'Tree of each leaf.';
comment on column validity_proofs.roots is 'Root of each tree.';
comment on column validity_proofs.root_indices is 'Place of each root among the roots its tree keeps.';
comment on column validity_proofs.extra is 'Fields of the answer that have no column, under their paths.';
comment on column validity_proofs.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column validity_proofs.seen_at is 'When the answer that says so arrived.';
comment on column validity_proofs.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column validity_proofs.changed_slot is 'Slot of the answer that last changed the row.';
comment on column validity_proofs.run_id is 'Run that received the last change.';
comment on column validity_proofs.record_hash is 'Hash of the row; moves only when the row changes.';
