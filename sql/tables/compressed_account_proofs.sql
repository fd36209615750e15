-- table: compressed_account_proofs
-- grain: one row a compressed account (hash)
-- key: hash
-- publish: merge
-- record bytes: 1550
-- steady: tree, leaf_index, root, proof
-- required: tree, root, proof
create table if not exists compressed_account_proofs (
  hash varchar not null,
  tree varchar,
  leaf_index bigint,
  root varchar,
  root_seq bigint,
  proof varchar[],
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table compressed_account_proofs is 'Merkle proofs that compressed accounts are in their state trees, as last seen.';
comment on column compressed_account_proofs.hash is 'Hash of the account: the leaf.';
comment on column compressed_account_proofs.tree is 'State tree it is in.';
comment on column compressed_account_proofs.leaf_index is 'Its leaf in the tree.';
comment on column compressed_account_proofs.root is 'Root that the proof leads to.';
comment on column compressed_account_proofs.root_seq is 'Sequence number of the tree at that root.';
comment on column compressed_account_proofs.proof is 'Neighbours on the way from the leaf up to the root.';
comment on column compressed_account_proofs.extra is 'Fields of the answer that have no column, under their paths.';
comment on column compressed_account_proofs.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column compressed_account_proofs.seen_at is 'When the answer that says so arrived.';
comment on column compressed_account_proofs.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column compressed_account_proofs.changed_slot is 'Slot of the answer that last changed the row.';
comment on column compressed_account_proofs.run_id is 'Run that received the last change.';
comment on column compressed_account_proofs.record_hash is 'Hash of the row; moves only when the row changes.';
