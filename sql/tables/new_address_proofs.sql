-- table: new_address_proofs
-- grain: one row an address and tree
-- key: tree, address
-- publish: merge
-- record bytes: 1700
-- steady: root, proof
-- required: root, proof
create table if not exists new_address_proofs (
  tree varchar not null,
  address varchar not null,
  lower_range_address varchar,
  higher_range_address varchar,
  low_element_leaf_index bigint,
  next_index bigint,
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
comment on table new_address_proofs is 'Proofs that addresses are free in an address tree, as last seen.';
comment on column new_address_proofs.tree is 'Address tree.';
comment on column new_address_proofs.address is 'The address that is not taken.';
comment on column new_address_proofs.lower_range_address is 'Next lower address that is taken.';
comment on column new_address_proofs.higher_range_address is 'Next higher address that is taken.';
comment on column new_address_proofs.low_element_leaf_index is 'Leaf of the lower one, which the proof is of.';
comment on column new_address_proofs.next_index is 'Leaf of the higher one.';
comment on column new_address_proofs.root is 'Root that the proof leads to.';
comment on column new_address_proofs.root_seq is 'Sequence number of the tree at that root.';
comment on column new_address_proofs.proof is 'Neighbours on the way from the leaf up to the root.';
comment on column new_address_proofs.extra is 'Fields of the answer that have no column, under their paths.';
comment on column new_address_proofs.slot is 'Ledger position the row was last true at; NULL where the source has none.';
comment on column new_address_proofs.seen_at is 'When the answer that says so arrived.';
comment on column new_address_proofs.first_seen_slot is 'Slot of the first answer that had the row.';
comment on column new_address_proofs.changed_slot is 'Slot of the answer that last changed the row.';
comment on column new_address_proofs.run_id is 'Run that received the last change.';
comment on column new_address_proofs.record_hash is 'Hash of the row; moves only when the row changes.';
