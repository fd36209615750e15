import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listCarried } from '../../src/crawl/land-page.ts';
import { receivePage } from '../../src/crawl/page.ts';
import { dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { splitPage } from '../../src/landing/split.ts';
import { createLandingLog } from '../../src/landing/writer.ts';
import { createLoader } from '../../src/load/load.ts';
import { findOperation } from '../../src/operations/catalogue.ts';
import { openDatabase } from '../../src/warehouse/database.ts';
import { readRows } from '../support/rows.ts';

/**
 * Answers and the rows they load as: `test/fixtures/shapes/<shape>/<operation>.<what>.in.json` is one answer,
 * `….out.json` the staged rows by table, without NULLs; `….params.json`, where the rows depend on what was asked, the
 * parameters. A new pair is a new case. `WRITE_SHAPES=1` writes the rows
 * that are there now, to be read before they are committed.
 */
const fixtures = new URL('../fixtures/shapes', import.meta.url).pathname;
const cases = (await readdir(fixtures, { recursive: true }))
  .filter((path) => path.endsWith('.in.json'))
  .sort();

test.each(cases)('%s', async (path) => {
  const answer = await readFile(join(fixtures, path));
  const file = join(fixtures, path.replace('.in.json', '.out.json'));
  const params = await readParams(file.replace('.out.json', '.params.json'));
  const rows = await loadAnswer(path.split('/')[1]?.split('.')[0] as string, params, answer);
  if (process.env.WRITE_SHAPES === '1') await writeFile(file, `${JSON.stringify(rows, null, 2)}\n`);
  expect(rows).toEqual(JSON.parse(await readFile(file, 'utf8')));
});

async function readParams(file: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
}

/** Splits, lands and loads one answer as the program does. */
async function loadAnswer(
  name: string,
  params: Record<string, unknown>,
  answer: Buffer,
): Promise<Record<string, unknown[]>> {
  const operation = findOperation(name);
  if (operation === undefined) throw new Error(`no operation ${name}`);
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-shape-'));
  const folder = dataFolder(root);
  await makeDataFolder(folder);
  const memory = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp };
  const database = await openDatabase(':memory:', memory);
  try {
    const page = receivePage(operation, splitPage(answer, operation.records));
    let segment = 0;
    const landing = createLandingLog({
      dir: folder.landing,
      onSealed: (number) => {
        segment = number;
      },
    });
    await landing.appendPage(
      {
        ...{ task: 'task', crawl: 'crawl', run: 'run', job: 'job', target: '', params, page: 1 },
        ...{ operation: name, shape: operation.shape, carries: listCarried(operation, params) },
        ...{ position: null, next: null, end: 'exhausted', last_slot: null },
        ...{ slot: page.slot, nulls: page.nulls, envelope: page.envelope },
        received_at: '2026-01-01T00:00:00.000Z',
      },
      page.records,
    );
    await landing.close();
    await (await createLoader(database, folder)).loadSegment(segment);
    return await readStaged(join(folder.staging, String(segment)));
  } finally {
    database.close();
    await rm(root, { recursive: true, force: true });
  }
}

async function readStaged(dir: string): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const file of (await readdir(dir)).filter((name) => name.endsWith('.parquet')).sort()) {
    const rows = await readRows<Record<string, unknown>>(
      ':memory:',
      `select * exclude (task, crawl, page, run_id, seen_at, n) from '${join(dir, file)}' order by page, n`,
    );
    tables[file.replace('.parquet', '')] = rows.map((row) =>
      Object.fromEntries(
        // The hashes publish compares, and what tells the text, are not what an answer says.
        Object.entries(row).filter(
          ([column, value]) =>
            value !== null && !column.startsWith('staged_') && !['digest', 'own_slot'].includes(column),
        ),
      ),
    );
  }
  return tables;
}
