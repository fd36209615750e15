import { copyFile, cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { linkSegment } from '../../../src/archive/replay.ts';
import { crawlTask } from '../../../src/crawl/crawl-tasks.ts';
import { createPageSizes } from '../../../src/crawl/page-size.ts';
import { noShortPageEnds } from '../../../src/crawl/paging.ts';
import { createSlotCeiling } from '../../../src/crawl/slot-ceiling.ts';
import type { DataFolder } from '../../../src/data-folder.ts';
import { listSegments, pageFile } from '../../../src/landing/segment-files.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { listStaged } from '../../../src/load/staged-segments.ts';
import { findOperation, listOperations } from '../../../src/operations/catalogue.ts';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
import { bar, showFigure } from '../../bars.ts';
import { canary, clientOf, jumpingTime } from '../../support/api-client.ts';
import { newTask } from '../../support/crawl.ts';
import { loadLanded, makeFolder, publishLoaded } from '../../support/publish-landed.ts';
import { createDraw, readSeed } from '../../support/random.ts';
import { readAllTables, type TableRows } from '../../support/rows.ts';
import { chooseCalls } from './every-job.ts';

/** A job an operation. The tasks of one operation come before and after all others, as those of two jobs may. */
const jobs: readonly (readonly [job: string, operation: string])[] = [
  ...listOperations().map(({ name }) => [name, name] as const),
  ...['a', 'z'].map((job) => [job, 'getMultipleNewAddressProofsV2'] as const),
];

/** Crawls every job in one wave. @returns the folder, where each segment is one job's, and the segments by job */
async function crawlAll(): Promise<{ folder: DataFolder; segments: Map<string, number[]> }> {
  const sandbox = await startSandbox({ seed: 51, assets: 60, owners: 12, apiKey: canary });
  onTestFinished(() => sandbox.close());
  const folder = await makeFolder();
  const { client } = clientOf(sandbox.url);
  const landing = createLandingLog({ dir: folder.landing, rotateBytes: 1, rotateLineBytes: 1 });
  const calls = chooseCalls(sandbox);
  for (const [job, name] of jobs) {
    const { limit, batchParam = '' } = findOperation(name)!;
    const { [batchParam]: ids, ...params } = calls.get(name) ?? {};
    const task = newTask(name, { id: job, job, params, pageSize: limit ?? 1 });
    const goal = { lastCompleteSlot: null, firstContent: null, seenSlot: null, coveredSlot: null };
    const idTexts = (ids as unknown[] | undefined)?.map((id) =>
      typeof id === 'string' ? id : JSON.stringify(id),
    );
    await crawlTask(
      { task, crawl: 'run-1', resume: null, goal, ...(idTexts && { ids: idTexts }) },
      {
        ...{ client, landing, run: 'run-1', wave: 1, batchConcurrency: 1, timing: jumpingTime() },
        ...{
          pageSizes: createPageSizes(),
          shortPages: noShortPageEnds,
          slots: createSlotCeiling(),
        },
        ...{ acceptsAhead: () => false, onPage: () => {}, isKnown: async () => false },
      },
    );
  }
  await landing.close();
  const segments = new Map<string, number[]>();
  for (const segment of await listSegments(folder.landing)) {
    const [line = ''] = (await readFile(pageFile(folder.landing, segment), 'utf8')).split('\n');
    const { job } = JSON.parse(line);
    segments.set(job, [...(segments.get(job) ?? []), segment]);
  }
  return { folder, segments };
}

/** A table's rows, or the versions of a history's, by key. */
function byKey(table: string, rows: readonly string[] = []): Map<string, string> {
  const { key } = readTableSpecs().find(({ name }) => table.replace(/_history$/, '') === name)!;
  const found = new Map<string, string>();
  for (const row of rows) {
    const columns = JSON.parse(row) as Record<string, unknown>;
    const name = key.map((column) => columns[column]).join('/');
    found.set(name, `${found.get(name) ?? ''}${row}`);
  }
  return found;
}

/** Rows that jobs brought together and alone, where these differ; of a row that several brought, only whether it is there. */
function compare(together: TableRows, alone: readonly TableRows[]): string[] {
  return Object.keys(Object.assign({}, together, ...alone)).flatMap((table) => {
    const actual = byKey(table, together[table]);
    const brought = alone.map((tables) => byKey(table, tables[table]));
    const keys = new Set([actual, ...brought].flatMap((rows) => [...rows.keys()]));
    return [...keys].flatMap((key) => {
      const rows = brought.flatMap((one) => one.get(key) ?? []);
      const row = actual.get(key);
      const isSame = rows.length > 1 ? row !== undefined : row === rows[0];
      return isSame ? [] : [`${table}: ${row ?? 'none'}, alone: ${rows.join(' or ')}`];
    });
  });
}

test('jobs of all operations, and pairs of them, bring together what each brings alone', async () => {
  const { folder, segments } = await crawlAll();
  await loadLanded(folder);
  const empty = await makeFolder();
  await publishLoaded(empty, 'none', async () => {});
  const staged = new Set(await listStaged(folder));
  const publishOnly = async (names: readonly string[]): Promise<TableRows> => {
    const one = await makeFolder();
    await copyFile(empty.build, one.build);
    for (const segment of names.flatMap((name) => segments.get(name)!)) {
      await linkSegment(folder.landing, one.landing, segment);
      // A segment without records has nothing staged.
      if (staged.has(segment))
        await cp(join(folder.staging, `${segment}`), join(one.staging, `${segment}`), { recursive: true });
    }
    await publishLoaded(one, 'run-1', async (_, { refused }) => expect(refused).toEqual([]));
    return readAllTables(one.build);
  };
  const alone = new Map<string, TableRows>();
  const seed = readSeed();
  const draw = createDraw(seed);
  const all = jobs.map(([job]) => job);
  const pairs = all.flatMap((one, n) => all.slice(n + 1).map((other) => [one, other]));
  const drawn = Array.from(
    { length: bar('pairs') },
    () => pairs.splice(draw.between(0, pairs.length - 1), 1)[0]!,
  );
  for (const names of [all, ...drawn]) {
    for (const name of names) if (!alone.has(name)) alone.set(name, await publishOnly([name]));
    const differences = compare(
      await publishOnly(names),
      names.map((name) => alone.get(name)!),
    );
    expect(differences, `${names}; LEDGERLAKE_SEED=${seed}`).toEqual([]);
  }
  for (const { name, table } of listOperations()) expect(Object.keys(alone.get(name)!)).toContain(table);
  showFigure('pairs', { done: drawn.length, seed });
});
