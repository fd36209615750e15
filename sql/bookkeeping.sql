-- The columns that tables have behind their own, with what they mean. A table's file may say another sentence of one.
-- `-- for:` names the tables that have them; {group} stands for each group of a table.
-- for: merge
extra -- Fields of the answer that have no column, under their paths; changes in place without history.

-- for: append
extra -- Fields of the answer that have no column, under their paths.

-- for: groups with members
{group}_extra varchar -- The part of extra below {group}, as text.

-- for: groups
base_hash ubigint -- Hash of the columns that no group owns.
{group}_slot bigint -- Slot of the answer the {group} columns come from.
{group}_seen_at timestamptz -- When that answer arrived.
{group}_hash ubigint -- Hash of the {group} columns.

-- for: merge
slot bigint -- Ledger position the row was last true at; NULL where the source has none.
seen_at timestamptz -- When the answer that says so arrived.
first_seen_slot bigint -- Slot of the first answer that had the row.
changed_slot bigint -- Slot of the answer that last changed the row.
run_id varchar -- Run that received the last change.
record_hash ubigint -- Hash of the row without extra; moves only when the row changes.

-- for: merge without slots
slot bigint -- NULL: the source says no slot; newer wins by seen_at.
first_seen_slot bigint -- NULL, as slot.
changed_slot bigint -- NULL, as slot.

-- for: append
slot bigint -- Ledger position of the first answer that had it.
seen_at timestamptz -- When that answer arrived.
first_seen_slot bigint -- The same slot.
changed_slot bigint -- Slot of the last answer that filled what was NULL; else the same slot.
run_id varchar -- Run that received the row, or last filled what was NULL.
record_hash ubigint -- Hash of the row.

-- for: append without slots
slot bigint -- NULL: the source says no slot.
seen_at timestamptz -- When the first answer that had it arrived.
first_seen_slot bigint -- NULL, as slot.
changed_slot bigint -- NULL, as slot.

-- for: history
changed_at timestamptz -- When the answer that last changed the row arrived.

-- for: followed
followed boolean -- Whether a target that a job has now should show the row; NULL until a run has read the targets of every job.
