// Writes the staged rows of many records, one file per shape and table, to compare before and after a change of the
// mapping: `npx tsx scripts/staged-rows.ts <folder>`. The records are every fixture and 400 mutants of each.
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { listCarried } from '../src/crawl/land-page.ts';
import { dataFolder, makeDataFolder } from '../src/data-folder.ts';
import { splitPage } from '../src/landing/split.ts';
import { createLandingLog } from '../src/landing/writer.ts';
import { createLoader } from '../src/load/load.ts';
import { findOperation } from '../src/operations/catalogue.ts';
import type { Operation } from '../src/operations/operation.ts';
import { createWorld } from '../src/sandbox/world.ts';
import { openDatabase } from '../src/warehouse/database.ts';

const fixtures = new URL('../test/fixtures/', import.meta.url).pathname;
const mutantsEach = 400;
const strange = ['null', '0', '""', '"x"', 'true', '1.5', '-1', '7', '"7"', '[]', '{}', '[1]', '["a",null]'];
const stranger = [
  ...strange,
  '{"a":1}',
  '[{"a":1},{}]',
  '18446744073709551615',
  '18446744073709551616',
  '1e3',
];

/** A page of records as an answer body, with the request's operation and parameters. */
interface Page {
  operation: Operation;
  params: Record<string, unknown>;
  body: string;
  slot: number | null;
}

const seed = 20261123;
let state = seed;
/** A number below `n`. Every run draws the same ones, because each fixture begins with the seed. */
function draw(n: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * n);
}

/** Offset after the JSON value that begins at `from`. */
function valueEnd(text: string, from: number): number {
  const token = /"(?:[^"\\]|\\.)*"|[[{]|[\]}]|[\w.+-]+/y;
  let depth = 0;
  for (token.lastIndex = from; ; ) {
    const found = token.exec(text)?.[0];
    if (found === undefined) return text.length;
    if (found === '{' || found === '[') depth += 1;
    else if (found === '}' || found === ']') depth -= 1;
    if (depth === 0) return token.lastIndex;
    while (',: \n'.includes(text[token.lastIndex] ?? '.')) token.lastIndex += 1;
  }
}

/** The record with one change: a value of another kind, or a key more, twice or missing. */
function mutate(record: string): string {
  const keys = [...record.matchAll(/"[\w$]+"(?=\s*:)/g)];
  const key = keys[draw(keys.length)];
  if (key === undefined) return stranger[draw(stranger.length)] as string;
  const from = record.indexOf(':', key.index) + 1;
  const start = from + (/^\s*/.exec(record.slice(from))?.[0].length ?? 0);
  const to = valueEnd(record, start);
  const value = record.slice(start, to);
  const other = stranger[draw(stranger.length)];
  const inside = value.startsWith('{') && value.length > 2 ? `{"inner":${other},${value.slice(1)}` : value;
  const changed = [other, other, `${value},"more":${other}`, `${value},${key[0]}:${other}`, inside][draw(5)];
  return record.slice(0, start) + changed + record.slice(to);
}

async function readPages(): Promise<Page[]> {
  const pages: Page[] = [];
  const files = (await readdir(join(fixtures, 'shapes'), { recursive: true })).filter((f) =>
    f.endsWith('.in.json'),
  );
  for (const file of files.sort()) {
    state = seed;
    const operation = findOperation(basename(file).split('.')[0] as string) as Operation;
    const path = join(fixtures, 'shapes', file);
    const params = await readFile(path.replace('.in.', '.params.'), 'utf8').catch(() => '{}');
    const records = splitPage(await readFile(path), operation.records).records;
    const texts = records.map(({ bytes, key }) => [key ?? '', bytes.toString()] as const);
    pages.push(...toPages(operation, JSON.parse(params), texts));
    const mutants = Array.from({ length: texts.length === 0 ? 0 : mutantsEach }, (_, n) => {
      const [key, text] = texts[n % texts.length] as [string, string];
      return [key, n % 3 === 0 ? mutate(mutate(text)) : mutate(text)] as const;
    });
    pages.push(...toPages(operation, JSON.parse(params), mutants));
  }
  const world = createWorld({ assets: 5000, owners: 500 });
  const numbers = Array.from({ length: 600 }, (_, n) => n);
  const ordinary: [string, string[]][] = [
    ['getAssetBatch', numbers.map((n) => world.assetWriter.write(n, { content: 'full' }).toString())],
    [
      'getAssetsByGroup',
      numbers.map((n) => world.assetWriter.write(n, { content: 'none' } as never).toString()),
    ],
    ['getTokenAccounts', numbers.map((n) => world.tokenAccounts.write(n).toString())],
  ];
  for (const [name, texts] of ordinary) {
    state = seed;
    const operation = findOperation(name) as Operation;
    const dir = join(fixtures, 'records', operation.shape);
    const nasty = (await readdir(dir)).sort().map((one) => readFile(join(dir, one), 'utf8'));
    const mutants = Array.from({ length: 1500 }, () => mutate(texts[draw(texts.length)] as string));
    const all = [...texts, ...(await Promise.all(nasty)), ...mutants];
    pages.push(
      ...toPages(
        operation,
        {},
        all.map((text) => ['', text] as const),
      ),
    );
  }
  return pages;
}

function toPages(
  operation: Operation,
  params: Record<string, unknown>,
  records: (readonly [string, string])[],
): Page[] {
  const pages: Page[] = [];
  for (let from = 0; from < records.length; from += 50) {
    const slice = records.slice(from, from + 50);
    const keyed = operation.records.form === 'keyed';
    const body = slice.map(([key, text], n) =>
      keyed ? `${JSON.stringify(n % 7 === 6 ? 'odd' : key)}:${text}` : text,
    );
    const slot = pages.length % 3 === 2 ? null : 300_000_000 + pages.length;
    pages.push({ operation, params, slot, body: keyed ? `{${body.join(',')}}` : `[${body.join(',')}]` });
  }
  return pages;
}

async function loadShape(shape: string, pages: readonly Page[], to: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-staged-'));
  const folder = dataFolder(root);
  await makeDataFolder(folder);
  const database = await openDatabase(':memory:', { memoryLimit: '512MB', threads: 1, tempDir: folder.temp });
  const segments: number[] = [];
  const landing = createLandingLog({ dir: folder.landing, onSealed: (number) => segments.push(number) });
  for (const [n, { operation, params, body, slot }] of pages.entries()) {
    const form = operation.records.form === 'keyed' ? 'keyed' : 'array';
    const { records } = splitPage(Buffer.from(body), { path: [], form });
    await landing.appendPage(
      {
        ...{ task: 'task', crawl: 'crawl', run: 'run', job: 'job', target: '', params, page: n + 1 },
        ...{ operation: operation.name, shape, carries: listCarried(operation, params) },
        ...{ position: null, next: null, end: n + 1 === pages.length ? 'exhausted' : null, last_slot: null },
        ...{ slot, nulls: 0, envelope: '{}', received_at: '2026-01-01T00:00:00.000Z' },
      } as never,
      records,
    );
  }
  await landing.close();
  const loader = await createLoader(database, folder);
  for (const segment of segments) {
    await loader.loadSegment(segment);
    const dir = join(folder.staging, String(segment));
    for (const file of (await readdir(dir)).filter((name) => name.endsWith('.parquet')).sort()) {
      const rows = await database.rows<Record<string, string | null>>(
        `select columns(*)::varchar from (select * replace (list_sort(cast_errors) as cast_errors) from '${join(dir, file)}')`,
      );
      const lines = rows.map((row) => JSON.stringify(Object.fromEntries(Object.entries(row).sort())));
      const name = join(to, `${shape}.${file.replace('.parquet', '')}.ndjson`);
      await writeFile(name, `${lines.sort().join('\n')}\n`, { flag: 'a' });
    }
  }
  database.close();
  await rm(root, { recursive: true });
}

const [to, only] = process.argv.slice(2);
if (to === undefined) throw new Error('usage: npx tsx scripts/staged-rows.ts <folder> [shape]');
await rm(to, { recursive: true, force: true });
await mkdir(to, { recursive: true });
const pages = await readPages();
for (const shape of new Set(pages.map(({ operation }) => operation.shape)))
  if (only === undefined || shape === only)
    await loadShape(
      shape,
      pages.filter(({ operation }) => operation.shape === shape),
      to,
    );
