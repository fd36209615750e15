import { expect, test } from 'vitest';
import { writeFiles } from '../../support/project.ts';
import { openShortList } from '../../support/small-world.ts';
import { traceSteps } from './steps.ts';

// What a power loss leaves depends on the order in which things are written and synced: this is the order.
/** What a first and a second night do, step by step, in the words of crash-points.mjs. */
let firstNight: readonly string[] = [];
let steps: readonly string[] = [];

/** Traces two nights, for the first test that asks. */
async function trace(): Promise<void> {
  if (steps.length > 0) return;
  const { place, sandbox, env } = await openShortList();
  await writeFiles(place.root, { 'ledgerlake.yaml': 'lake: { tables: [assets] }' });
  const run = async () => {
    const { ended, points } = await traceSteps({ place, env, args: ['run', '--no-progress'] });
    expect(ended.code, ended.stderr).toBe(0);
    return points.map(({ what }) => what);
  };
  firstNight = await run();
  sandbox.tick(5);
  steps = await run();
  expect(steps.length).toBeGreaterThan(100);
}

/** Steps that match, in order. */
function find(pattern: RegExp): { n: number; path: string }[] {
  return steps.flatMap((step, n) => {
    const path = pattern.exec(step)?.[1];
    return path === undefined ? [] : { n, path };
  });
}

/** Whether a file was written and, after the last write before step `n`, synced. */
function isSynced(path: string, n: number): boolean {
  const before = steps.slice(0, n);
  const written = before.findLastIndex(
    (step) => /^(append|write|copyFile|open|truncate|duckdb copy)/.test(step) && step.includes(path),
  );
  const synced = before.findLastIndex((step) => /^(data)?sync /.test(step) && step.endsWith(` ${path}`));
  return written !== -1 && synced > written;
}

test('DuckDB writes every file under a name of its own, which is renamed when it is whole', async () => {
  await trace();
  const copies = find(/^duckdb copy .* -> (.*)$/);
  expect(copies.length).toBeGreaterThanOrEqual(3);
  expect(copies.filter(({ path }) => !path.includes('.tmp'))).toEqual([]);
});

test('a file is synced before it is renamed', async () => {
  await trace();
  // The file that shows progress, and the rates that are found again, need not survive.
  const renamed = find(/^rename (?!run\.json|rates\.json)(\S+\.(?:tmp|parquet|json)) to /);
  const files = renamed.filter(({ path }) => !/^staging\/\d+\.tmp$/.test(path));
  expect(files.length).toBeGreaterThanOrEqual(3);
  expect(files.filter(({ path, n }) => !isSynced(path, n))).toEqual([]);
});

test('a staged folder is whole and synced before it gets its name', async () => {
  await trace();
  const [renamed] = find(/^rename (staging\/\d+\.tmp) to staging\/\d+$/);
  const before = steps.slice(0, renamed!.n);
  const inside = find(/^(?:duckdb copy .* -> |writeFile )(staging\/\d+\.tmp\/[^,\s]+)$/);
  expect(inside.length).toBe(2);
  for (const { path } of inside) expect(isSynced(path, renamed!.n), path).toBe(true);
  expect(before).toContain(`sync ${renamed!.path}`);
});

test('the landing log and the list of runs are in the data folder, durably, before anything is received', async () => {
  await trace();
  const received = firstNight.findIndex((step) => step.startsWith('appendFile landing/'));
  const synced = firstNight.lastIndexOf('sync .', received);
  expect(received).toBeGreaterThan(0);
  expect(synced).toBeGreaterThan(firstNight.indexOf('mkdir landing'));
  expect(synced).toBeGreaterThan(firstNight.indexOf('open runs.ndjson'));
});

test('the data folder itself is durably there before anything is received', async () => {
  const { place, env } = await openShortList();
  const args = ['crawl', '--data-dir', 'data/new/inner'];
  const { ended, points } = await traceSteps({ place, env, args });
  expect(ended.code, ended.stderr).toBe(0);
  const order = points.map(({ what }) => what);
  const made = order.indexOf('mkdir new/inner');
  const received = order.findIndex((step) => step.startsWith('appendFile new/inner/landing/'));
  expect(made).toBeGreaterThanOrEqual(0);
  for (const step of ['sync .', 'sync new']) {
    expect(order.indexOf(step), step).toBeGreaterThan(made);
    expect(order.indexOf(step), step).toBeLessThan(received);
  }
});

test('what was received is synced before it is loaded', async () => {
  await trace();
  const [loaded] = find(/^(duckdb copy) .* -> staging\//);
  const written = new Set(find(/^appendFile (landing\/[^,\s]+)$/).map(({ path }) => path));
  expect(written.size).toBe(2);
  for (const path of written) expect(isSynced(path, loaded!.n), path).toBe(true);
});

test('the landing log goes only after the archive has what it held', async () => {
  await trace();
  const [removed] = find(/^(rm) landing\//);
  const archived = find(/^rename \S+ to (archive\/.*)$/);
  expect(archived.length).toBe(2);
  const synced = steps.lastIndexOf('sync archive', removed!.n);
  for (const { n } of archived) expect(synced).toBeGreaterThan(n);
});

test('the build is closed while it is copied', async () => {
  await trace();
  for (const [night, step] of [
    [firstNight, 'copyFile warehouse.duckdb.tmp'],
    [steps, 'write warehouse.duckdb.tmp'],
  ] as const) {
    const copied = night.lastIndexOf(step);
    expect(copied, step).toBeGreaterThan(0);
    const before = night.slice(0, copied).filter((done) => /^duckdb (opens|closes) build/.test(done));
    expect(before.at(-1), step).toMatch(/closes/);
  }
});

test('the next snapshot is begun before all is published, and is whole on disk before it has its name', async () => {
  await trace();
  const begun = steps.indexOf('open warehouse.duckdb.tmp');
  expect(begun).toBeGreaterThan(0);
  const [renamed] = find(/^rename (warehouse\.duckdb\.tmp) to warehouse\.duckdb$/);
  expect(isSynced('warehouse.duckdb.tmp', renamed!.n)).toBe(true);
  const published = steps.findLastIndex((step) => step.startsWith('duckdb closes build'));
  expect(begun).toBeLessThan(published);
  expect(published).toBeLessThan(renamed!.n);
});

test('the last thing that a run does is to say how it ended', async () => {
  await trace();
  const endSynced = steps.findLastIndex((step) => /^(data)?sync runs\.ndjson$/.test(step));
  const after = steps.slice(endSynced + 1).filter((step) => !/run\.lock|run\.json|the end/.test(step));
  expect(after).toEqual([]);
});
