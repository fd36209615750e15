import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BrokenCursor } from '../../../src/crawl/crawl-task.ts';
import { listCarried } from '../../../src/crawl/land-page.ts';
import { type PageAnswer, receivePage } from '../../../src/crawl/page.ts';
import { type DataFolder, dataFolder, makeDataFolder } from '../../../src/data-folder.ts';
import { MalformedPage, splitPage } from '../../../src/landing/split.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { createLoader } from '../../../src/load/load.ts';
import { listStaged } from '../../../src/load/staged-segments.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';
import type { Operation } from '../../../src/operations/operation.ts';
import { publish } from '../../../src/publish/publish.ts';
import { openBuild } from '../../../src/warehouse/build.ts';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { bar, showFigure } from '../../bars.ts';
import { createRandom, readSeed } from '../../support/random.ts';
import { readCounts } from '../crash/content.ts';

const fixtures = new URL('../../fixtures/shapes', import.meta.url).pathname;
const seed = readSeed();
const count = bar('mutants');
const perAnswer = 15;

/** Real answers of every operation that has a fixture. */
const answers = readdirSync(fixtures, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.in.json'))
  .sort()
  .map((path) => ({
    operation: findOperation(path.split('/')[1]!.split('.')[0]!)!,
    text: readFileSync(join(fixtures, path), 'utf8'),
  }));

const oddValues = [
  ...['null', 'true', '-1', '0', '-0', '1.5', '1e400', '18446744073709551616', '9007199254740993'],
  ...['""', '"x"', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', `"${'y'.repeat(100_000)}"`, '"2026-13-45"'],
  ...['[]', '{}', '[[]]', '[null]', '{"a":{"b":[1,"2",{}]}}', '{"__proto__":{"a":1}}', '{"id":1,"id":2}'],
];

/** An answer with one to three changes: of a value, of a name, or of bytes. */
function mutate(text: string, random: () => number): Buffer {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  let bytes = Buffer.from(text);
  for (let change = 1 + Math.floor(random() * 3); change > 0; change -= 1) {
    const at = Math.floor(random() * bytes.length);
    const rest = (skip: number) => bytes.subarray(Math.min(bytes.length, at + skip));
    const kind = random();
    if (kind < 0.8) {
      const body = bytes.toString('utf8');
      const tokens = [...body.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g)];
      const token = pick(tokens);
      if (token === undefined) continue;
      const end = token.index + token[0].length;
      bytes = Buffer.from(`${body.slice(0, token.index)}${pick(oddValues)}${body.slice(end)}`);
    } else if (kind < 0.85) {
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from([bytes[at]! ^ (1 << Math.floor(random() * 8))]),
        rest(1),
      ]);
    } else if (kind < 0.9) {
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(pick(['"', '{', '}', '[', ']', ',', ':', '\\', '0', '\n', '\x80'])),
        rest(0),
      ]);
    } else if (kind < 0.95)
      bytes = Buffer.concat([bytes.subarray(0, at), rest(1 + Math.floor(random() * 20))]);
    else bytes = Buffer.concat([bytes.subarray(0, at), rest(0).subarray(0, 40), rest(0)]);
  }
  return bytes;
}

/** The page of an answer; null where it is refused, in one of the ways that have it asked for again. */
function receive(operation: Operation, body: Buffer): PageAnswer | null {
  try {
    return receivePage(operation, splitPage(body, operation.records));
  } catch (error) {
    if (error instanceof MalformedPage || error instanceof BrokenCursor) return null;
    throw error;
  }
}

/** Lands mutants of every answer, each a crawl of one page. @returns names of the records that landed, and refused pages */
async function landMutants(folder: DataFolder, random: () => number) {
  const landed: string[] = [];
  let refused = 0;
  const landing = createLandingLog({ dir: folder.landing });
  let n = 0;
  for (const { operation, text } of answers) {
    for (let copy = 0; copy < perAnswer; copy += 1) {
      const page = receive(operation, mutate(text, random));
      n += 1;
      if (page === null) {
        refused += 1;
        continue;
      }
      const task = `t${n}`;
      await landing.appendPage(
        {
          ...{ task, crawl: 'run', run: 'run', job: `job${n}`, target: '', params: {}, page: 1 },
          ...{ operation: operation.name, shape: operation.shape, carries: listCarried(operation, {}) },
          ...{ position: { limit: 10 }, next: null, end: 'exhausted', last_slot: null, nulls: page.nulls },
          ...{ slot: page.slot, envelope: page.envelope, received_at: '2026-01-01T00:00:00.000Z' },
        },
        page.records,
      );
      landed.push(...page.records.map((_, place) => `${task}/${place}`));
    }
  }
  await landing.close();
  return { landed, refused, pages: n };
}

/** Loads and publishes everything. @returns the records that a row or a quarantine entry stands for */
async function loadAll(folder: DataFolder, segments: readonly number[]): Promise<Set<string>> {
  const options = { memoryLimit: '512MB', threads: 1, tempDir: folder.temp };
  const memory = await openDatabase(':memory:', options);
  try {
    const loader = await createLoader(memory, folder);
    for (const segment of segments) await loader.loadSegment(segment);
    const found = new Set<string>();
    for (const segment of await listStaged(folder)) {
      const rows = await memory.rows<{ record: string }>(
        `select distinct task || '/' || n as record
        from read_parquet('${folder.staging}/${segment}/*.parquet', union_by_name = true)`,
      );
      for (const { record } of rows) found.add(record);
    }
    return found;
  } finally {
    memory.close();
  }
}

test(
  `${count} mutants of real answers (seed ${seed}): refused as a page, or every record of it is a row or in quarantine`,
  async () => {
    const random = createRandom(seed);
    const totals = { mutants: 0, refused: 0, records: 0 };
    while (totals.mutants < count) {
      const what = `seed ${seed}, after ${totals.mutants} mutants`;
      const folder = dataFolder(await mkdtemp(join(tmpdir(), 'ledgerlake-mutants-')));
      onTestFinished(() => rm(folder.root, { recursive: true, force: true }));
      await makeDataFolder(folder);
      const { landed, refused, pages } = await landMutants(folder, random).catch((cause) => {
        throw new Error(what, { cause });
      });
      const segments = readdirSync(folder.landing).flatMap((name) => /^(\d+)\.ndjson$/.exec(name)?.[1] ?? []);
      const found = await loadAll(folder, segments.map(Number)).catch((cause) => {
        throw new Error(what, { cause });
      });
      expect(
        landed.filter((record) => !found.has(record)),
        what,
      ).toEqual([]);
      const options = { memoryLimit: '512MB', threads: 1, tempDir: folder.temp };
      const build = await openBuild(folder, options);
      const publishing = { run: 'run', quarantineLimit: 1 };
      const published = await publish(build, folder, publishing).catch((cause) => {
        throw new Error(what, { cause });
      });
      build.close();
      // Each page that landed is a crawl of its own.
      expect(published.crawls + published.refused.length, what).toBe(pages - refused);
      expect((await readCounts(folder.build)).twice, what).toEqual([]);
      await rm(folder.root, { recursive: true, force: true });
      totals.mutants += pages;
      totals.refused += refused;
      totals.records += landed.length;
    }
    expect(totals.refused).toBeLessThan(totals.mutants * 0.8);
    const note = `${totals.refused} pages refused, ${totals.records} records kept or in quarantine`;
    console.log(`mutations.test.ts: seed ${seed}: ${note}`);
    showFigure('mutants', { done: totals.mutants, seed, note });
  },
  300_000 + count * 50,
);
