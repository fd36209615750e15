// A folder that grows old: nights a day apart by a moved clock, of a ledger that changes a little each day. What bench/aged.ts
// prints.
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { startSandbox } from '../src/sandbox/server.ts';
import { type Measurement, measure } from './measure.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dayMs = 86_400_000;

/** Where a night runs, with what, and by how much its clock is ahead. */
export interface NightPlace {
  cwd: string;
  env: Record<string, string | undefined>;
  aheadMs: number;
}

/** What a night took; in a test's own process nothing is measured. */
export type NightCost = Pick<Measurement, 'cpuSeconds' | 'peakMb' | 'seconds'>;

/** A folder after a night. */
export interface AgedNight extends NightCost {
  night: number;
  buildBytes: number;
  /** Row groups of all tables, of the table that has most, and rows. */
  rowGroups: number;
  mostRowGroups: number;
  rows: number;
  archiveBytes: number;
  archiveFiles: number;
  /** Segments whose page lines the archive has. */
  archivedSegments: number;
  /** Files of the data folder, all of them. */
  files: number;
  requestsBytes: number;
}

export interface AgedFolder {
  place: string;
  /** One `ledgerlake run`, a day after the last one, then a day of the ledger. */
  night(): Promise<AgedNight>;
  close(): Promise<void>;
}

export interface AgingOptions {
  assets: number;
  keepRawDays: number;
  /** Names of bundled jobs. Default: all. */
  jobs?: readonly string[];
}

/**
 * Makes an installation with bundled jobs, and a ledger for it.
 * @param runNight runs one command line. Default: a process of dist/cli.js, measured
 */
export async function openAgedFolder(
  { assets, keepRawDays, jobs }: AgingOptions,
  runNight: (args: readonly string[], place: NightPlace) => Promise<NightCost> = measureNight,
): Promise<AgedFolder> {
  // The program takes the time from its answers where its own clock is far from it: the sandbox is to tell none.
  const before = Object.getOwnPropertyDescriptor(ServerResponse.prototype, 'sendDate');
  Object.defineProperty(ServerResponse.prototype, 'sendDate', {
    ...{ configurable: true, get: () => false, set: () => undefined },
  });
  const place = mkdtempSync(join(tmpdir(), 'ledgerlake-aged-'));
  const sandbox = await startSandbox({ seed: 1, assets, owners: Math.ceil(assets / 2) });
  const truth = sandbox.world.truth();
  cpSync(join(root, 'jobs'), join(place, 'jobs'), { recursive: true });
  for (const file of readdirSync(join(place, 'jobs')))
    if (jobs !== undefined && file.endsWith('.yaml') && !jobs.includes(file.slice(0, -'.yaml'.length)))
      rmSync(join(place, 'jobs', file));
  writeFileSync(join(place, 'jobs/targets/collections.txt'), truth.collections().join('\n'));
  writeFileSync(join(place, 'jobs/targets/creators.txt'), truth.creators().join('\n'));
  writeFileSync(
    join(place, 'ledgerlake.yaml'),
    `api: {limits: {das: {rps: 5000, burst: 200}, compression: {rps: 5000, burst: 200}}}\nwarehouse: {keep_raw_days: ${keepRawDays}}\nlake: {tables: [webhooks]}\n`,
  );
  let night = 0;
  return {
    place,
    async night() {
      night += 1;
      const cost = await runNight(['run', '--json', '--log-level', 'error'], {
        cwd: place,
        env: {
          PATH: process.env.PATH,
          LEDGERLAKE_RPC_URL: sandbox.url,
          LEDGERLAKE_API_KEY: 'sandbox',
        },
        aheadMs: night * dayMs,
      });
      const described = await describeFolder(join(place, 'data'));
      sandbox.tick();
      return { night, ...described, ...cost };
    },
    async close() {
      await sandbox.close();
      if (before === undefined) Reflect.deleteProperty(ServerResponse.prototype, 'sendDate');
      else Object.defineProperty(ServerResponse.prototype, 'sendDate', before);
      rmSync(place, { recursive: true, force: true });
    },
  };
}

function measureNight(args: readonly string[], { cwd, env, aheadMs }: NightPlace): Promise<NightCost> {
  const moved = `--import=data:text/javascript,${encodeURIComponent(clockAhead(aheadMs))}`;
  return measure([join(root, 'dist/cli.js'), ...args], { cwd, env: { ...env, NODE_OPTIONS: moved } });
}

/** Runs before the program: every clock that it reads is ahead. */
function clockAhead(ms: number): string {
  return `const Real = Date; const ahead = ${ms}; globalThis.Date = class extends Real {
    constructor(...args) { args.length === 0 ? super(Real.now() + ahead) : super(...args); }
    static now() { return Real.now() + ahead; } };`;
}

async function describeFolder(data: string): Promise<Omit<AgedNight, 'night' | keyof NightCost>> {
  const archive = sizeOf(join(data, 'archive'));
  return {
    buildBytes: statSync(join(data, 'build.duckdb')).size,
    ...(await countRowGroups(join(data, 'warehouse.duckdb'))),
    archiveBytes: archive.bytes,
    archiveFiles: archive.files,
    archivedSegments: readdirSync(join(data, 'archive')).filter((name) => name.endsWith('.pages.parquet'))
      .length,
    files: sizeOf(data).files,
    requestsBytes: statSync(join(data, 'requests.ndjson')).size,
  };
}

function sizeOf(dir: string): { bytes: number; files: number } {
  const sum = { bytes: 0, files: 0 };
  for (const entry of readdirSync(dir, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    sum.files += 1;
    sum.bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return sum;
}

async function countRowGroups(
  path: string,
): Promise<{ rowGroups: number; mostRowGroups: number; rows: number }> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const read = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  const tables = (await read(
    "select schema_name || '.' || table_name as t, estimated_size as n from duckdb_tables() where not internal",
  )) as { t: string; n: string }[];
  const counts = { rowGroups: 0, mostRowGroups: 0, rows: 0 };
  for (const { t, n } of tables) {
    const [row] = (await read(
      `select count(distinct row_group_id)::int as g from pragma_storage_info('${t}')`,
    )) as { g: number }[];
    counts.rowGroups += row?.g ?? 0;
    counts.mostRowGroups = Math.max(counts.mostRowGroups, row?.g ?? 0);
    counts.rows += Number(n);
  }
  connection.closeSync();
  instance.closeSync();
  return counts;
}
