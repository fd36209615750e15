// A folder that grows old: nights a day apart by a moved clock, of a ledger that changes a little each day.
// A line a night, as JSON: CPU seconds, peak memory, sizes, row groups. Usage: npx tsx bench/aged.ts --nights 60 --assets 600
import { cpSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { startSandbox } from '../src/sandbox/server.ts';
import { measure } from './measure.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const { values } = parseArgs({
  options: {
    nights: { type: 'string', default: '60' },
    assets: { type: 'string', default: '600' },
    keep: { type: 'string', default: '10' },
  },
});

/** Runs before the program: every clock that it reads is ahead. */
function clockAhead(ms: number): string {
  return `const Real = Date; const ahead = ${ms}; globalThis.Date = class extends Real {
    constructor(...args) { args.length === 0 ? super(Real.now() + ahead) : super(...args); }
    static now() { return Real.now() + ahead; } };`;
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

async function countRowGroups(path: string): Promise<{ groups: number; rows: number }> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
  const connection = await instance.connect();
  const tables = (
    await connection.runAndReadAll(
      "select schema_name || '.' || table_name as t, estimated_size as n from duckdb_tables() where not internal",
    )
  ).getRowObjectsJson() as { t: string; n: string }[];
  let groups = 0;
  let rows = 0;
  for (const { t, n } of tables) {
    const [row] = (
      await connection.runAndReadAll(
        `select count(distinct row_group_id)::int as g from pragma_storage_info('${t}')`,
      )
    ).getRowObjectsJson() as { g: number }[];
    groups += row?.g ?? 0;
    rows += Number(n);
  }
  connection.closeSync();
  instance.closeSync();
  return { groups, rows };
}

// The program takes the time from its answers where its own clock is far from it: the sandbox is to tell none.
Object.defineProperty(ServerResponse.prototype, 'sendDate', { get: () => false, set: () => undefined });

const place = mkdtempSync(join(tmpdir(), 'ledgerlake-aged-'));
const sandbox = await startSandbox({ seed: 1, assets: Number(values.assets), owners: 300 });
try {
  const truth = sandbox.world.truth();
  cpSync(join(root, 'jobs'), join(place, 'jobs'), { recursive: true });
  writeFileSync(join(place, 'jobs/targets/collections.txt'), truth.collections().join('\n'));
  writeFileSync(join(place, 'jobs/targets/creators.txt'), truth.creators().join('\n'));
  writeFileSync(
    join(place, 'ledgerlake.yaml'),
    `api: {limits: {das: {rps: 5000, burst: 200}, compression: {rps: 5000, burst: 200}}}\nwarehouse: {keep_raw_days: ${values.keep}}\nlake: {tables: [webhooks]}\n`,
  );
  for (let night = 1; night <= Number(values.nights); night += 1) {
    const ahead = night * 86_400_000;
    const env = {
      PATH: process.env.PATH,
      LEDGERLAKE_RPC_URL: sandbox.url,
      LEDGERLAKE_API_KEY: 'sandbox',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clockAhead(ahead))}`,
    };
    const run = await measure([join(root, 'dist/cli.js'), 'run', '--json', '--log-level', 'error'], {
      cwd: place,
      env,
    });
    const archive = sizeOf(join(place, 'data/archive'));
    const { groups, rows } = await countRowGroups(join(place, 'data/warehouse.duckdb'));
    console.log(
      JSON.stringify({
        night,
        cpuSeconds: Number(run.cpuSeconds.toFixed(2)),
        peakMb: Math.round(run.peakMb),
        buildMb: Number((statSync(join(place, 'data/build.duckdb')).size / 1e6).toFixed(1)),
        rowGroups: groups,
        rows,
        archiveMb: Number((archive.bytes / 1e6).toFixed(1)),
        archiveFiles: archive.files,
        requestsMb: Number((statSync(join(place, 'data/requests.ndjson')).size / 1e6).toFixed(2)),
        runSeconds: Number(run.seconds.toFixed(1)),
      }),
    );
    sandbox.tick();
  }
} finally {
  await sandbox.close();

  rmSync(place, { recursive: true, force: true });
}
