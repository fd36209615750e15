-- table: asset_proofs
-- grain: one row a compressed asset (id)
-- key: id
-- publish: merge
-- record bytes: 1000
-- steady: tree, leaf, node_index, root, proof
-- required: tree, root, proof
create table if not exists asset_proofs (
  id varchar not null,
  tree varchar,
  leaf varchar,
  node_index bigint,
  root varchar,
  proof varchar[],
  burnt json,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table asset_proofs is 'Merkle proofs of compressed assets, as last seen.';
comment on column asset_proofs.id is 'Asset id, base58.';
comment on column asset_proofs.tree is 'Merkle tree the asset is a leaf of.';
comment on column asset_proofs.leaf is 'Hash of the leaf.';
comment on column asset_proofs.node_index is 'Number of the leaf among the nodes of the tree: 2 ^ depth + leaf id.';
comment on column asset_proofs.root is 'Root that the proof leads to.';
comment on column asset_proofs.proof is 'Neighbours on the way from the leaf up to the root.';
comment on column asset_proofs.burnt is 'As given; the source leaves its type open.';
comment on column asset_proofs.extra is 'Fields of the answer that have no column, under their paths.';
comment on column asset_proofs.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column asset_proofs.seen_at is 'When the answer that says so arrived.';
comment on column asset_proofs.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column asset_proofs.changed_slot is 'Slot of the answer that last changed the row.';
comment on column asset_proofs.run_id is 'Run that received the last change.';
comment on column asset_proofs.record_hash is 'Hash of the row; moves only when the row changes.';
