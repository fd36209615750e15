-- table: priority_fees
-- grain: one row an answer (request_key, seen_at): a time series of each question
-- key: request_key, seen_at
-- publish: append
create table if not exists priority_fees (
  request_key varchar not null,
  seen_at timestamptz not null,
  request json,
  account_keys varchar[],
  estimate double,
  level_min double,
  level_low double,
  level_medium double,
  level_high double,
  level_very_high double,
  level_unsafe_max double,
  extra json,
  slot bigint,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table priority_fees is 'Priority fees, in micro-lamports a compute unit: a row an answer, rows never change.';
comment on column priority_fees.request_key is 'Hash of the parameters: equal ones are one series.';
comment on column priority_fees.seen_at is 'When the answer arrived.';
comment on column priority_fees.request is 'The parameters.';
comment on column priority_fees.account_keys is 'Accounts the question names; NULL when it gave a transaction.';
comment on column priority_fees.estimate is 'The fee for the level asked for; NULL when all levels were.';
comment on column priority_fees.level_min is 'Lowest fee paid lately.';
comment on column priority_fees.level_low is 'The low level.';
comment on column priority_fees.level_medium is 'The medium level.';
comment on column priority_fees.level_high is 'The high level.';
comment on column priority_fees.level_very_high is 'The very high level.';
comment on column priority_fees.level_unsafe_max is 'Highest fee paid lately: it may be far too much.';
comment on column priority_fees.extra is 'Fields of the answer that have no column.';
comment on column priority_fees.slot is 'NULL: the source says no slot.';
comment on column priority_fees.first_seen_slot is 'NULL, as slot.';
comment on column priority_fees.changed_slot is 'NULL, as slot.';
comment on column priority_fees.run_id is 'Run that received it.';
comment on column priority_fees.record_hash is 'Hash of the row.';
