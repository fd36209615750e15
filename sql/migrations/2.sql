-- Version 2: history, ranges of targets, incremental crawls.

-- Columns of version 4: once rows of a table are written, DuckDB refuses to alter it in the same transaction.
alter table assets add column supply_extra varchar;
alter table assets add column supply_slot bigint;
alter table assets add column supply_seen_at timestamptz;
alter table assets add column supply_hash ubigint;
alter table assets add column followed boolean;
alter table token_accounts add column followed boolean;

-- When a row last changed was not kept: the run that received the change is the best there is.
alter table assets add column changed_at timestamptz;
update assets set changed_at = coalesce(try_strptime(left(run_id, 15) || 'Z', '%Y%m%dT%H%M%SZ')::timestamptz, seen_at);

alter table token_accounts add column changed_at timestamptz;
update token_accounts set changed_at = coalesce(try_strptime(left(run_id, 15) || 'Z', '%Y%m%dT%H%M%SZ')::timestamptz, seen_at);

alter table compressed_accounts add column changed_at timestamptz;
update compressed_accounts set changed_at = coalesce(try_strptime(left(run_id, 15) || 'Z', '%Y%m%dT%H%M%SZ')::timestamptz, seen_at);

alter table compressed_token_accounts add column changed_at timestamptz;
update compressed_token_accounts set changed_at = coalesce(try_strptime(left(run_id, 15) || 'Z', '%Y%m%dT%H%M%SZ')::timestamptz, seen_at);

alter table wallet_balances add column changed_at timestamptz;
update wallet_balances set changed_at = coalesce(try_strptime(left(run_id, 15) || 'Z', '%Y%m%dT%H%M%SZ')::timestamptz, seen_at);

-- Not by an update: a later version's change of the table, in the same transaction, would fail.
alter table meta.checkpoints add column range varchar default '';
alter table meta.checkpoints alter column range drop default;

alter table meta.requests add column saved bigint;
update meta.requests set saved = 0;

-- Unknown: the hashes are rebuilt when the folder is opened.
alter table meta.schema_version add column hashed_by varchar;
