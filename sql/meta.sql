-- The pipeline's own state. It lives in the same file as the tables, so data and checkpoint commit together.
create schema if not exists meta;

create table if not exists meta.schema_version (version integer not null, hashed_by varchar);
comment on table meta.schema_version is 'Version of the tables; a folder of another version is refused.';
comment on column meta.schema_version.version is 'The version.';
comment on column meta.schema_version.hashed_by is 'Version of DuckDB whose hash() made the record hashes; another one makes them again.';

create table if not exists meta.mappings (shape varchar not null, digest varchar not null);
comment on table meta.mappings is 'The mapping (sql/tables/, sql/shapes/) that made the rows; another one makes them again.';
comment on column meta.mappings.shape is 'Type of one record.';
comment on column meta.mappings.digest is 'SHA-256 of the SQL that makes rows of it.';

create table if not exists meta.source (
  transport varchar not null,
  origin varchar not null,
  bound_at timestamptz not null,
  moved_by varchar
);
comment on table meta.source is 'The API this data folder was filled from; another one is refused.';
comment on column meta.source.transport is 'rpc, wallet or webhook.';
comment on column meta.source.origin is 'Scheme, host, port and path, without the key; `sandbox` for the embedded sample API.';
comment on column meta.source.bound_at is 'When the folder was first filled, or moved.';
comment on column meta.source.moved_by is 'The `source move` that took it to this origin; cursors of earlier runs are forgotten.';

create table if not exists meta.runs (
  run_id varchar not null,
  verb varchar not null,
  jobs varchar[],
  started_at timestamptz not null,
  finished_at timestamptz,
  exit_code integer,
  stopped_by varchar
);
comment on table meta.runs is 'Every run that crawled or published, finished or not.';
comment on column meta.runs.run_id is 'Start time and a random part; sorts by time.';
comment on column meta.runs.verb is 'run, crawl or publish.';
comment on column meta.runs.jobs is 'Jobs that were requested.';
comment on column meta.runs.started_at is 'When it began.';
comment on column meta.runs.finished_at is 'When it ended; NULL when it was killed or is still running.';
comment on column meta.runs.exit_code is 'Exit code; NULL when it was killed or is still running.';
comment on column meta.runs.stopped_by is 'Why it stopped early, in words.';

create table if not exists meta.checkpoints (
  job varchar not null,
  target varchar not null,
  range varchar,
  kind varchar not null,
  last_indexed_slot bigint,
  state varchar not null,
  min_slot bigint,
  max_slot bigint,
  pages bigint not null,
  records bigint not null,
  quarantined bigint not null,
  started_at timestamptz,
  finished_at timestamptz,
  run_id varchar not null,
  task varchar not null,
  crawl varchar not null,
  reason varchar,
  first_content varchar,
  rolls_back boolean,
  stale bigint,
  cast_errors map(varchar, bigint)
);
comment on table meta.checkpoints is 'How far each job is with each target.';
comment on column meta.checkpoints.job is 'Name of the job.';
comment on column meta.checkpoints.target is 'What it ran for: the value, canonical JSON of several, empty where the job has one target.';
comment on column meta.checkpoints.range is 'Which range of ids, `3/8`, where the job splits its targets; empty for the whole target.';
comment on column meta.checkpoints.kind is 'full, incremental (only down to what was known: says nothing of rows that left) or feed.';
comment on column meta.checkpoints.last_indexed_slot is 'All data up to this slot is in: the lowest slot of the crawl''s pages. NULL where the source has no slots.';
comment on column meta.checkpoints.state is 'complete, open (the next run continues it) or failed (the next run begins again).';
comment on column meta.checkpoints.min_slot is 'Lowest slot of its pages.';
comment on column meta.checkpoints.max_slot is 'Highest slot of its pages: from it on, <table>_at_slot has all of the crawl.';
comment on column meta.checkpoints.pages is 'Pages received.';
comment on column meta.checkpoints.records is 'Records received.';
comment on column meta.checkpoints.quarantined is 'Records with something that did not fit.';
comment on column meta.checkpoints.started_at is 'When its first page arrived.';
comment on column meta.checkpoints.finished_at is 'When its last page arrived; NULL while open.';
comment on column meta.checkpoints.run_id is 'Run that received its last page.';
comment on column meta.checkpoints.task is 'Identity of the task: changes when its parameters change.';
comment on column meta.checkpoints.crawl is 'Run that began the crawl.';
comment on column meta.checkpoints.reason is 'Why it failed, or how it ended.';
comment on column meta.checkpoints.first_content is 'Digest of the records of its first page: a later crawl that is at no higher slot has nothing new only when its first page is the same. NULL for batches.';
comment on column meta.checkpoints.rolls_back is 'Published although its source went back, because somebody accepted that: what was in above its slots had to come again.';
comment on column meta.checkpoints.stale is 'Records whose rows are ahead of them by more slots than a replica lags: the rows stay as they are. NULL counts as none.';
comment on column meta.checkpoints.cast_errors is 'How many of its records did not fit, by table and column (`assets.attributes`; `assets`: records refused whole). The guard quarantined compares the next crawl with it.';

create table if not exists meta.jobs (job varchar not null, file varchar not null, follows boolean not null, is_read boolean not null);
comment on table meta.jobs is 'The jobs that have a file, as the last run of each saw it.';
comment on column meta.jobs.job is 'Name of the job.';
comment on column meta.jobs.file is 'Path of the job file.';
comment on column meta.jobs.follows is 'Whether what it asks for says which rows its targets should show (meta.target_params).';
comment on column meta.jobs.is_read is 'Whether meta.targets has its targets: not before a run has crawled it.';

create table if not exists meta.targets (job varchar not null, target varchar not null);
comment on table meta.targets is 'The targets that these jobs have, as the last run of each read them.';
comment on column meta.targets.job is 'Name of the job.';
comment on column meta.targets.target is 'What it runs for, as in meta.checkpoints.';

create table if not exists meta.target_params (
  job varchar not null,
  target varchar not null,
  operation varchar not null,
  params varchar not null,
  ids varchar[],
  crawl varchar not null
);
comment on table meta.target_params is 'The operation and parameters that each target was last crawled with, former ones too: they say which rows the target should show.';
comment on column meta.target_params.job is 'Name of the job.';
comment on column meta.target_params.target is 'What it ran for, as in meta.checkpoints.';
comment on column meta.target_params.operation is 'The operation.';
comment on column meta.target_params.params is 'Parameters of the target, as JSON.';
comment on column meta.target_params.ids is 'Ids of a batch; NULL for others.';
comment on column meta.target_params.crawl is 'Run that began the crawl.';

create table if not exists meta.followed (table_name varchar not null, digest ubigint not null);
comment on table meta.followed is 'By which targets the column `followed` of a table was made.';
comment on column meta.followed.table_name is 'The table.';
comment on column meta.followed.digest is 'Digest of the targets: with others, it is rebuilt for all rows.';

create table if not exists meta.forgotten (
  run_id varchar not null,
  name varchar not null,
  rows bigint not null,
  forgotten_at timestamptz not null
);
comment on table meta.forgotten is 'Jobs and targets whose rows were forgotten.';
comment on column meta.forgotten.run_id is 'The run of the `forget`.';
comment on column meta.forgotten.name is 'The job, or job/target.';
comment on column meta.forgotten.rows is 'Rows that left the tables.';
comment on column meta.forgotten.forgotten_at is 'When.';

create table if not exists meta.coverage (
  job varchar not null,
  target varchar not null,
  low_slot bigint not null,
  high_slot bigint not null,
  state varchar not null,
  cursor varchar,
  run_id varchar not null,
  task varchar,
  unit varchar,
  cursor_group varchar
);
comment on table meta.coverage is 'Slots, or times, of each newest-first feed that are in, and the gaps between them.';
comment on column meta.coverage.job is 'Name of the job.';
comment on column meta.coverage.target is 'What it ran for.';
comment on column meta.coverage.low_slot is 'First slot of the interval, inclusive; a Unix time in seconds where `unit` is second.';
comment on column meta.coverage.high_slot is 'Last slot of the interval, inclusive; a Unix time in seconds where `unit` is second.';
comment on column meta.coverage.state is 'covered or gap.';
comment on column meta.coverage.cursor is 'The cursor that continues into a gap.';
comment on column meta.coverage.run_id is 'Run that last moved it.';
comment on column meta.coverage.task is 'Identity of the task: with other parameters, a feed begins again.';
comment on column meta.coverage.unit is 'What the feed goes by: slot, or second (wallets, whose answers say no slot).';
comment on column meta.coverage.cursor_group is 'How the page before the cursor ends, if its records come in groups (transfers of one signature); JSON.';

create table if not exists meta.read_again (
  job varchar not null,
  target varchar not null,
  low_slot bigint not null,
  high_slot bigint not null,
  run_id varchar not null,
  task varchar
);
comment on table meta.read_again is 'Covered slots, or times, of feeds that were read within `overlap` of their own time: the next round reads them once more.';
comment on column meta.read_again.job is 'Name of the job.';
comment on column meta.read_again.target is 'What it ran for.';
comment on column meta.read_again.low_slot is 'First slot, inclusive; a Unix time in seconds for wallets.';
comment on column meta.read_again.high_slot is 'Last slot, inclusive; a Unix time in seconds for wallets.';
comment on column meta.read_again.run_id is 'Run that read them last.';
comment on column meta.read_again.task is 'Identity of the task, as in `coverage`.';

create table if not exists meta.absent (
  table_name varchar not null,
  key varchar not null,
  lookup varchar,
  job varchar not null,
  target varchar not null,
  task varchar not null,
  options varchar,
  slot bigint,
  missed_at timestamptz not null,
  asked_run varchar,
  asked_at timestamptz,
  null_run varchar,
  null_at timestamptz,
  null_slot bigint
);
comment on table meta.absent is 'Rows that may be gone: a complete crawl of their target did not show them, or there was no answer under their key.';
comment on column meta.absent.table_name is 'Table of the row.';
comment on column meta.absent.key is 'Key of the row.';
comment on column meta.absent.lookup is 'Operation by which _confirm asks about it; NULL: the job that missed it asks again.';
comment on column meta.absent.job is 'Job that missed it first.';
comment on column meta.absent.target is 'Target of that crawl.';
comment on column meta.absent.task is 'Task of that crawl.';
comment on column meta.absent.options is 'Display options of that crawl, as JSON: the look-up asks with the same ones. NULL: none.';
comment on column meta.absent.slot is 'Slot of that crawl: all data up to it was listed. Of an answer under a key, its own; NULL where it says none.';
comment on column meta.absent.missed_at is 'When that crawl ended.';
comment on column meta.absent.asked_run is 'Run that last looked it up.';
comment on column meta.absent.asked_at is 'When that was answered: it is looked up again hours later.';
comment on column meta.absent.null_run is 'First run that found nothing under the key; NULL once something was found.';
comment on column meta.absent.null_at is 'When that answer came: one that comes hours later, and at a later slot, closes the row.';
comment on column meta.absent.null_slot is 'Slot of that answer, or of the newest one of its shape that its run had seen; NULL where the source has none.';

create table if not exists meta.closed (
  job varchar not null,
  target varchar not null,
  range varchar not null,
  table_name varchar not null,
  by_look_up boolean not null,
  rows bigint not null,
  closed_at timestamptz not null,
  crawl varchar not null
);
comment on table meta.closed is 'How many rows left their table lately: the guard vanished counts them beside what would leave next.';
comment on column meta.closed.job is 'Job that missed the rows.';
comment on column meta.closed.target is 'Target whose latest list did not show them; empty for look-ups, which are counted by job.';
comment on column meta.closed.range is 'Which range of ids, `3/8`; empty for the whole target.';
comment on column meta.closed.table_name is 'Table they were in.';
comment on column meta.closed.by_look_up is 'There was nothing under their keys; else their list did not show them.';
comment on column meta.closed.rows is 'How many.';
comment on column meta.closed.closed_at is 'When the crawl that closed them ended; after three days they count no more.';
comment on column meta.closed.crawl is 'That crawl.';

create table if not exists meta.segments (
  segment bigint not null,
  shape varchar not null,
  pages bigint not null,
  records bigint not null,
  settled boolean not null,
  published_at timestamptz not null
);
comment on table meta.segments is 'Segments of the landing log that are in the tables.';
comment on column meta.segments.segment is 'Number of the segment.';
comment on column meta.segments.shape is 'Shape of its records.';
comment on column meta.segments.pages is 'Pages in it.';
comment on column meta.segments.records is 'Records in it.';
comment on column meta.segments.settled is 'None of its crawls is open: it may be archived.';
comment on column meta.segments.published_at is 'When that was last looked at.';

create table if not exists meta.quarantine (
  table_name varchar not null,
  task varchar not null,
  crawl varchar not null,
  page bigint not null,
  slot bigint,
  key varchar,
  column_name varchar,
  reason varchar not null,
  raw varchar
);
comment on table meta.quarantine is 'What did not fit: fields (the row is in, the field is NULL) and whole records (column_name NULL).';
comment on column meta.quarantine.table_name is 'Table it was meant for.';
comment on column meta.quarantine.task is 'Task that received it.';
comment on column meta.quarantine.crawl is 'Crawl that received it; the next complete full crawl of the target replaces its entries.';
comment on column meta.quarantine.page is 'Page of the crawl.';
comment on column meta.quarantine.slot is 'Slot of the record.';
comment on column meta.quarantine.key is 'Key of the row; of a refused record, the id its text mentions.';
comment on column meta.quarantine.column_name is 'Column that is NULL because of it; NULL for a whole record.';
comment on column meta.quarantine.reason is 'What is wrong.';
comment on column meta.quarantine.raw is 'The text received.';

create table if not exists meta.refusals (
  run_id varchar not null,
  job varchar not null,
  target varchar not null,
  range varchar not null,
  guard varchar not null,
  id varchar not null,
  for_job varchar not null,
  whole_job boolean not null,
  table_name varchar,
  column_name varchar,
  rows bigint not null,
  total bigint not null,
  examples varchar[] not null,
  reason varchar not null,
  task varchar not null,
  crawl varchar not null,
  accepted_by varchar,
  refused_at timestamptz not null
);
comment on table meta.refusals is 'Crawls that a guard refused: none of their rows are in the tables, unless a later run accepted them.';
comment on column meta.refusals.run_id is 'Run whose publish refused the crawl.';
comment on column meta.refusals.job is 'Name of the job.';
comment on column meta.refusals.target is 'What it ran for.';
comment on column meta.refusals.range is 'Which range of ids, `3/8`; empty for the whole target.';
comment on column meta.refusals.guard is 'vanished, blank, collapse, quarantined or stale; ahead: the target failed, because its answers'' slot was too far ahead.';
comment on column meta.refusals.id is 'What `--accept` takes to let it pass, with all crawls that were refused for the same finding.';
comment on column meta.refusals.for_job is 'Job that the finding is about: of look-ups, the one that missed the rows; else the job itself.';
comment on column meta.refusals.whole_job is 'Counted over all crawls of the job in that run, not over this one.';
comment on column meta.refusals.table_name is 'Table that the guard looked at.';
comment on column meta.refusals.column_name is 'Column that would become NULL, or take one value, or that records do not fit in.';
comment on column meta.refusals.rows is 'Rows or records that are wrong, …';
comment on column meta.refusals.total is '… of so many.';
comment on column meta.refusals.examples is 'Three of them.';
comment on column meta.refusals.reason is 'The same in words.';
comment on column meta.refusals.task is 'Task that received the crawl.';
comment on column meta.refusals.crawl is 'Run that began the crawl.';
comment on column meta.refusals.accepted_by is 'Run that published the crawl nevertheless.';
comment on column meta.refusals.refused_at is 'When the crawl''s last page arrived.';

-- What waits for somebody to accept it: no later crawl of the target has taken its place.
create or replace view meta.held as
select r.*
from meta.refusals as r
where r.accepted_by is null
  and not exists (
    from meta.refusals as later
    where later.job = r.job and later.target = r.target and later.range = r.range and later.crawl > r.crawl
  )
  and not exists (
    from meta.checkpoints as c
    where c.job = r.job and c.target = r.target and c.range = r.range
      and c.state = 'complete' and c.crawl > r.crawl
  )
  -- Look-ups are of no use once their rows were listed again.
  and (r.job <> '_confirm' or exists (
    from meta.absent as a
    where a.job = r.for_job and a.table_name = r.table_name
  ));
comment on view meta.held is 'The refusals that wait for `--accept`, or for a right night: what was received is kept.';
comment on column meta.held.run_id is 'As in meta.refusals, like the other columns.';

create table if not exists meta.requests (
  run_id varchar not null,
  operation varchar not null,
  pool varchar not null,
  requests bigint not null,
  retries bigint not null,
  throttles bigint not null,
  failures bigint not null,
  credits bigint not null,
  saved bigint,
  bytes bigint not null,
  latency_p50_ms double,
  latency_p95_ms double,
  latency_max_ms double
);
comment on table meta.requests is 'The requests that each run sent to the API.';
comment on column meta.requests.run_id is 'The run.';
comment on column meta.requests.operation is 'The operation.';
comment on column meta.requests.pool is 'Rate pool it counts in.';
comment on column meta.requests.requests is 'Attempts, retries included.';
comment on column meta.requests.retries is 'Attempts that were not the first.';
comment on column meta.requests.throttles is 'Attempts answered with "too many requests".';
comment on column meta.requests.failures is 'Attempts that brought no page.';
comment on column meta.requests.credits is 'Credits they cost.';
comment on column meta.requests.saved is 'Requests not needed: pages of the targets'' last full crawls, without those of the crawls that ended where everything was known.';
comment on column meta.requests.bytes is 'Bytes received, as compressed on the wire.';
comment on column meta.requests.latency_p50_ms is 'Median time of an attempt, milliseconds.';
comment on column meta.requests.latency_p95_ms is '95th percentile, milliseconds.';
comment on column meta.requests.latency_max_ms is 'Longest, milliseconds.';
