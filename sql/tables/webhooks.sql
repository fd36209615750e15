-- table: webhooks
-- grain: one row a webhook (webhook_id)
-- key: webhook_id
-- publish: merge
-- unordered: transaction_types, account_addresses
-- steady: webhook_url, webhook_type
create table if not exists webhooks (
  webhook_id varchar not null,
  wallet varchar,
  webhook_url varchar,
  transaction_types varchar[],
  account_addresses varchar[],
  webhook_type varchar,
  has_auth_header boolean,
  active boolean,
  extra json,
  slot bigint,
  seen_at timestamptz not null,
  first_seen_slot bigint,
  changed_slot bigint,
  run_id varchar not null,
  record_hash ubigint not null
);
comment on table webhooks is 'Webhooks that were enabled or disabled with ledgerlake, as last answered. The value of their authHeader is never kept.';
comment on column webhooks.webhook_id is 'Id of the webhook, a UUIDv4 in lower case.';
comment on column webhooks.wallet is 'Address of the key owner that made it.';
comment on column webhooks.webhook_url is 'URL the deliveries are posted to.';
comment on column webhooks.transaction_types is 'Types that trigger a delivery (enhanced webhooks only); ANY is all of them.';
comment on column webhooks.account_addresses is 'Addresses that are watched.';
comment on column webhooks.webhook_type is 'enhanced, raw, discord, or one of those for the devnet.';
comment on column webhooks.has_auth_header is 'Whether deliveries carry an authorization value; the value itself is a secret and dropped.';
comment on column webhooks.active is 'Whether deliveries are sent.';
comment on column webhooks.extra is 'Fields of the answer that have no column.';
comment on column webhooks.slot is 'NULL: the source says no slot; newer wins by seen_at.';
comment on column webhooks.seen_at is 'When the answer that says so arrived.';
comment on column webhooks.first_seen_slot is 'NULL, as slot.';
comment on column webhooks.changed_slot is 'NULL, as slot.';
comment on column webhooks.run_id is 'Run that received the last change.';
comment on column webhooks.record_hash is 'Hash of the row; moves only when the row changes.';
