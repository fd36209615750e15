import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';
import { billingPeriodStart } from '../run/budget.ts';
import { type RunSummary, readRuns } from '../run/read-runs.ts';
import { readSql } from '../sql-text.ts';
import { type JobFiles, readStatus, type Status } from '../status/read-status.ts';
import { checkVersion } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { type Examples, readExamples } from './read-examples.ts';
import { readDailyCredits, readTimeline, type Timeline } from './read-timeline.ts';

/** Everything that the page of one run shows. Counts and sums are text, because they may exceed 2^53. */
export interface ReportData {
  run: RunSummary;
  timeline: Timeline | null;
  /** Requests a second that are allowed or were learnt, by pool. */
  limits: Readonly<Record<string, number>>;
  /** Credits by day of the billing month. */
  daily: { day: string; credits: number }[];
  monthlyCredits: number | null;
  status: Status;
  /** Null: there is no snapshot. */
  snapshot: SnapshotData | null;
}

export interface SnapshotData {
  operations: Operation[];
  received: { step: number; records: number }[];
  targets: Target[];
  examples: Examples[];
  quarantine: CastErrors[];
  tables: { name: string; rows: string; seen_at: Date | null; slot: string | null }[];
  assets: Assets | null;
  collections: Collection[];
  holders: { owner: string; assets: string; share: number }[];
  balances: Balance[];
  signatures: { begun_at: Date; signatures: bigint }[];
}

export interface Operation {
  operation: string;
  pool: string;
  requests: string;
  retries: string;
  throttles: string;
  failures: string;
  credits: string;
  saved: string;
  bytes: string;
  latency_p50_ms: number | null;
  latency_p95_ms: number | null;
}

export interface Target {
  job: string;
  target: string;
  state: string;
  slot: string | null;
  records: string;
  quarantined: string;
  finished_at: Date | null;
  reason: string | null;
}

export interface CastErrors {
  table_name: string;
  column_name: string | null;
  reason: string;
  entries: string;
  example: string | null;
}

export interface Assets {
  assets: string;
  burnt: string;
  compressed: string;
  compressed_share: number;
  owners: string;
  top_ten_share: number;
  top_hundred_share: number;
}

export interface Collection {
  collection: string;
  assets: string;
  holders: string;
  compressed_share: number;
  top_share: number;
  top_ten_share: number;
}

export interface Balance {
  mint: string;
  accounts: string;
  holders: string;
  amount: string | null;
  top_share: number;
}

/** Verbs that change the tables; other runs have no report. */
const verbs = new Set(['run', 'crawl', 'load', 'publish', 'reload', 'rebuild', 'retry']);

/** The runs that have a report, newest first. */
export async function readReportedRuns(folder: DataFolder, limit: number): Promise<RunSummary[]> {
  const runs = await readRuns(folder, Number.MAX_SAFE_INTEGER, Date.now());
  return runs.filter(({ verb }) => verbs.has(verb)).slice(0, limit);
}

/**
 * The run with a name, or with a unique prefix of it; without a name the last run.
 * @throws UsageError where there is none, or more than one
 */
export function findRun(runs: readonly RunSummary[], name: string | null): RunSummary {
  const matches = name === null ? runs.slice(0, 1) : runs.filter(({ run }) => run.startsWith(name));
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only;
  throw new UsageError(
    only === undefined
      ? `no run is called ${JSON.stringify(name ?? '')}`
      : `${matches.length} runs begin with ${JSON.stringify(name)}`,
    '`ledgerlake runs` lists them; the beginning of a name is enough where only one has it.',
  );
}

/** Reads the report without disturbing a run. @param signal interrupts the SQL of a job */
export async function readReport(
  folder: DataFolder,
  config: Config,
  files: JobFiles,
  run: RunSummary,
  signal: AbortSignal,
): Promise<ReportData> {
  const from = Date.parse(run.startedAt);
  const to = run.finishedAt === null ? Math.max(from, Date.now()) : Date.parse(run.finishedAt);
  const timeline = await readTimeline(folder.requests, run.run, from, to);
  const since = billingPeriodStart(new Date(), config.billingDay);
  return {
    run,
    timeline,
    limits: await readLimits(folder, config),
    daily: await readDailyCredits(folder.requests, since),
    monthlyCredits: config.monthlyCredits,
    status: await readStatus(folder, config, null, files, signal),
    snapshot: (await exists(folder.snapshot))
      ? await readSnapshot(folder, config, run, timeline?.stepMs ?? Math.max(1000, to - from))
      : null,
  };
}

async function readLimits(folder: DataFolder, config: Config): Promise<Record<string, number>> {
  const learnt = await readFile(folder.rates, 'utf8').then(
    (text) => JSON.parse(text) as Record<string, number>,
    () => ({}),
  );
  const configured = Object.entries(config.limits).flatMap(([pool, limit]) =>
    limit?.rps === undefined ? [] : [[pool, limit.rps] as const],
  );
  return { ...learnt, ...Object.fromEntries(configured) };
}

async function readSnapshot(
  folder: DataFolder,
  config: Config,
  { run, startedAt, finishedAt }: RunSummary,
  stepMs: number,
): Promise<SnapshotData> {
  const { memoryLimit, threads } = config.warehouse;
  const options = { memoryLimit, threads, tempDir: folder.temp, readOnly: true };
  const database = await openDatabase(folder.snapshot, options);
  const rows = <T>(file: string, params?: Record<string, string | number>) =>
    database.rows<T>(readSql(`report/${file}.sql`), params);
  try {
    await checkVersion(database);
    await database.run(readSql('status/target-status.sql'));
    await database.run(readSql('status/former.sql'), { jobs: [], targets: [] });
    const examples: Examples[] = [];
    for (const spec of readTableSpecs().filter(({ history }) => history))
      examples.push(
        await readExamples(database, spec, run, startedAt, finishedAt ?? new Date().toISOString()),
      );
    return {
      operations: await rows<Operation>('operations', { run }),
      received: await rows('received', { run, from: Date.parse(startedAt), step: stepMs }),
      targets: await rows<Target>('targets'),
      examples: examples.filter(
        ({ inserted, changed, gone }) => inserted.length + changed.length + gone.length > 0,
      ),
      quarantine: await rows<CastErrors>('quarantine'),
      tables: await readTables(database),
      ...(await readAssets(database)),
      balances: await rows<Balance>('balances'),
      signatures: await rows('signatures'),
    };
  } finally {
    database.close();
  }
}

async function readTables(database: Database): Promise<SnapshotData['tables']> {
  const tables: SnapshotData['tables'] = [];
  for (const { name } of readTableSpecs())
    tables.push(
      ...(await database.rows<SnapshotData['tables'][number]>(
        readSql('report/tables.sql').replaceAll('{table}', name),
      )),
    );
  return tables.filter(({ rows }) => rows !== '0');
}

async function readAssets(
  database: Database,
): Promise<Pick<SnapshotData, 'assets' | 'collections' | 'holders'>> {
  const [assets = null] = await database.rows<Assets>(readSql('report/assets.sql'));
  return {
    assets: assets?.assets === '0' ? null : assets,
    collections: await database.rows<Collection>(readSql('report/collections.sql')),
    holders: await database.rows(readSql('report/holders.sql')),
  };
}
