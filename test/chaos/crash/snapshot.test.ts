import { existsSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
import { bar, showFigure } from '../../bars.ts';
import { runProgram, startProgram } from '../../support/program.ts';
import {
  copyProject,
  environmentOf,
  makeLastingProject,
  type Project,
  removeProject,
} from '../../support/project.ts';
import { createRandom, readSeed } from '../../support/random.ts';
import { exportOnly, startSmallWorld, writeJobs } from '../../support/small-world.ts';
import { readCounts } from './content.ts';
import { startReader } from './reader.ts';

let sandbox: Sandbox;
/** What one run has filled: tests copy it. */
let filled: Project;
beforeAll(async () => {
  sandbox = await startSmallWorld(3, { assets: 300, owners: 30, latencyMs: 1 });
  filled = await makeLastingProject();
  await writeJobs(filled, sandbox, 1);
  await exportOnly(filled, 'assets', 'token_accounts');
  const first = await runProgram(['run'], { cwd: filled.root, env: environmentOf(sandbox) });
  expect(first.code, first.stderr).toBe(0);
  return async () => {
    await sandbox.close();
    await removeProject(filled);
  };
});

const snapshotOf = ({ data }: Project) => join(data, 'warehouse.duckdb');

/** A place that one run has filled. */
async function makeFilled() {
  const place = await copyProject(filled);
  const run = () => runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
  return { place, run, snapshot: snapshotOf(place) };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('the snapshot has no write bits; landing, staging and build are for the owner only', async () => {
  const place = filled;
  expect(modeOf(snapshotOf(place))).toBe(0o440);
  for (const name of ['landing', 'staging', 'archive', 'temp'])
    expect(modeOf(join(place.data, name)), name).toBe(0o700);
  for (const name of ['build.duckdb', 'run.lock', 'requests.ndjson', 'runs.ndjson', 'run.json'])
    expect(modeOf(join(place.data, name)), name).toBe(0o600);
  const archive = readdirSync(join(place.data, 'archive'));
  expect(archive.length).toBeGreaterThan(0);
  for (const name of archive) expect(modeOf(join(place.data, 'archive', name)), name).toBe(0o600);
  expect(modeOf(place.data) & 0o007).toBe(0);
});

test('a log left by somebody who opened the snapshot for writing and died is set aside, not replayed', async () => {
  const { place, run, snapshot } = await makeFilled();
  const before = await readCounts(snapshot);
  const writer = startReader(
    `const instance = await DuckDBInstance.create(path, { checkpoint_threshold: '1GB' });
    const connection = await instance.connect();
    await connection.run("create table foreign_rows as select range as n from range(3000)");
    await connection.run("delete from assets");
    console.log('written');
    setInterval(() => {}, 1000);`,
    snapshot,
  );
  expect(await writer.nextLine()).toBe('written');
  writer.child.kill('SIGKILL');
  await writer.ended;
  expect(existsSync(`${snapshot}.wal`)).toBe(true);
  const ended = await run();
  expect(ended.code).toBe(0);
  expect(ended.stderr).toMatch(/"level":40[^\n]*set aside/);
  expect(existsSync(`${snapshot}.wal`)).toBe(false);
  expect(readdirSync(place.data).filter((name) => name.includes('.wal.set-aside-')).length).toBe(1);
  expect(await readCounts(snapshot)).toEqual(before);
});

test('who has the old snapshot open goes on reading it', async () => {
  const { run, snapshot } = await makeFilled();
  const reader = startReader(
    `const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' });
    const connection = await instance.connect();
    const count = async () => {
      const rows = await connection.runAndReadAll('select count(*), count(distinct id), max(seen_at)::varchar from assets');
      console.log(String(rows.getRows()[0]));
    };
    await count();
    process.stdin.on('data', count);`,
    snapshot,
  );
  const first = await reader.nextLine();
  const inode = statSync(snapshot).ino;
  sandbox.tick(3);
  expect((await run()).code).toBe(0);
  expect(statSync(snapshot).ino).not.toBe(inode);
  reader.child.stdin.write('again\n');
  expect(await reader.nextLine()).toBe(first);
});

const kills = bar('readerKills');
const seed = readSeed();

test(
  `a polling reader of snapshot and lake sees no error and no half state while ${kills} runs are killed (seed ${seed})`,
  async () => {
    const { place, run, snapshot } = await makeFilled();
    const { rows: atFirst } = await readCounts(snapshot);
    expect(Object.values(atFirst).filter((rows) => rows > 0).length).toBeGreaterThanOrEqual(4);
    const tables = readTableSpecs().map(({ name, key }) => ({
      ...{ name, filled: atFirst[name]! > 0 },
      sql: `select '${name}' as t, count(*) as n, count(distinct (${key.join(', ')})) as k from ${name}`,
    }));
    const reader = startReader(pollingReader(tables), snapshot);
    expect(await reader.nextLine()).toBe('polling');
    const random = createRandom(seed);
    const startedAt = Date.now();
    expect((await run()).code).toBe(0);
    const wholeMs = Date.now() - startedAt;
    for (let n = 0; n < kills; n += 1) {
      sandbox.tick();
      const night = startProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
      // From the crawl's end on, mostly: what readers see is replaced then.
      await Promise.race([sleep((0.2 + random()) * wholeMs), night.ended]);
      night.child.kill('SIGKILL');
      await night.ended;
    }
    expect((await run()).code).toBe(0);
    reader.child.stdin.write('stop\n');
    const { polls, errors, seen, sets } = JSON.parse((await reader.nextLine()) ?? '{}');
    expect(errors, `seed ${seed}`).toEqual([]);
    expect(polls).toBeGreaterThan(20);
    expect(seen, 'snapshots that the reader saw').toBeGreaterThan(1);
    expect(sets, 'exports that the reader saw').toBeGreaterThan(1);
    await expectNoDrafts(place);
    const note = `${polls} reads of ${seen} snapshots and ${sets} exports`;
    console.log(`snapshot.test.ts: seed ${seed}: ${note}`);
    showFigure('readerKills', { done: kills, seed, note });
  },
  300_000 + kills * 10_000,
);

/** A program that reads, until it is told to stop, every table of the snapshot, and the lake's token accounts. */
function pollingReader(tables: readonly { name: string; filled: boolean; sql: string }[]): string {
  const filled = tables.filter((table) => table.filled).map(({ name }) => name);
  return `import { readdirSync, readFileSync } from 'node:fs';
    let polls = 0, errors = [], seen = new Set(), sets = new Set(), stop = false;
    const filled = ${JSON.stringify(filled)};
    const lake = path.replace('warehouse.duckdb', 'lake/');
    process.stdin.on('data', () => { stop = true; });
    console.log('polling');
    while (!stop) {
      let instance;
      try {
        instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY', threads: '1' });
        const connection = await instance.connect();
        const read = async (sql) => (await connection.runAndReadAll(sql)).getRows();
        const rows = await read(${JSON.stringify(tables.map(({ sql }) => sql).join(' union all '))});
        if (rows.length !== ${tables.length}) errors.push('tables: ' + rows.length);
        for (const [t, n, k] of rows) if (n !== k || (n === 0n && filled.includes(t))) errors.push(t + ': ' + n + ' rows, ' + k + ' keys');
        seen.add(String(await read('select max(run_id) from meta.runs')));
        const manifest = JSON.parse(readFileSync(lake + '_manifests/token_accounts.json', 'utf8'));
        const files = manifest.files.map((file) => "'" + lake + file.path + "'").join(', ');
        const [[n]] = await read('select count(*) from read_parquet([' + files + '])');
        if (Number(n) !== manifest.rows) errors.push(files + ': ' + n + ' of ' + manifest.rows + ' rows');
        if (readdirSync(lake + 'token_accounts').length !== 1) errors.push('not one set');
        sets.add(manifest.export_id);
        connection.closeSync();
      } catch (error) {
        errors.push(error.message);
      }
      instance?.closeSync();
      polls += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    console.log(JSON.stringify({ polls, errors: errors.slice(0, 5), seen: seen.size, sets: sets.size }));
    process.exit(0);`;
}

test('a draft of the snapshot that a kill left is not in the way', async () => {
  const { place, run, snapshot } = await makeFilled();
  await writeFile(`${snapshot}.tmp`, 'half', { mode: 0o400 });
  expect((await run()).code).toBe(0);
  await expectNoDrafts(place);
});

async function expectNoDrafts({ data }: Project): Promise<void> {
  expect(
    readdirSync(data).filter((name) => name.startsWith('warehouse') && name !== 'warehouse.duckdb'),
  ).toEqual([]);
}
