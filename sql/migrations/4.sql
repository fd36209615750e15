-- Version 4: look-ups ask with the display options of the list that missed the row; the print columns of assets come from
-- the newest answer that has `supply`; hashes do without `extra`.

-- Which options those were is not known of rows that wait: the next crawl of their list queues them again.
drop table if exists meta.absent;

-- Without a value, whether an answer had `supply` is not known: the next one that has fills the row, without a version.
alter table assets add column if not exists supply_extra varchar;
alter table assets add column if not exists supply_slot bigint;
alter table assets add column if not exists supply_seen_at timestamptz;
alter table assets add column if not exists supply_hash ubigint;
alter table if exists past.assets add column supply_extra varchar;
alter table if exists past.assets add column supply_slot bigint;
alter table if exists past.assets add column supply_seen_at timestamptz;
alter table if exists past.assets add column supply_hash ubigint;
-- The past has no such column.
alter table assets add column if not exists followed boolean;
alter table token_accounts add column if not exists followed boolean;
create schema if not exists past;
create table if not exists past.assets as
select * exclude (followed), null::bigint as valid_to_slot, null::timestamptz as valid_to, null::varchar as gone_reason
from assets
where false;
update assets set supply_slot = slot, supply_seen_at = seen_at
where print_max_supply is not null or print_current_supply is not null or edition_nonce is not null;
update past.assets set supply_slot = slot, supply_seen_at = seen_at
where print_max_supply is not null or print_current_supply is not null or edition_nonce is not null;

-- What the first page of a crawl held is not known: the next one goes on after it, whatever its slot.
alter table meta.checkpoints add column if not exists first_content varchar;

-- Made in another way now: the hashes are rebuilt when the folder is opened.
update meta.schema_version set hashed_by = null;

-- The source of a folder may move: cursors of runs before that are another provider's.
alter table meta.source add column if not exists moved_by varchar;

-- Which crawls were let pass although their source had gone back is known from now on.
alter table meta.checkpoints add column if not exists rolls_back boolean;

-- How many records of a crawl did not move the rows they are of.
alter table meta.checkpoints add column if not exists stale bigint;

-- Feeds of wallets go by time, and a feed with other parameters begins anew. So far a job's parameters never changed a feed.
alter table meta.coverage add column if not exists task varchar;
alter table meta.coverage add column if not exists unit varchar;
alter table meta.coverage add column if not exists cursor_group varchar;
update meta.coverage set unit = 'slot', task = (
  select max_by(c.task, c.crawl)
  from meta.checkpoints as c
  where c.job = meta.coverage.job and c.target = meta.coverage.target and c.kind = 'feed'
);

-- Since when something is in quarantine is known from now on.
alter table meta.quarantine add column if not exists first_crawl varchar;
