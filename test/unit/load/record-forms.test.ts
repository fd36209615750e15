import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { splitPage } from '../../../src/landing/split.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { createShapeMacros, readingOf, shapeQuery } from '../../../src/load/shape-query.ts';
import { createWorld } from '../../../src/sandbox/world.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
import { makeLanding, newPage } from '../../support/pages.ts';
import { readSeed } from '../../support/random.ts';

/**
 * What a form says of a record must be what the record says. So every record is loaded twice: with the forms that its
 * page's line tells, and as older folders have it, without them.
 */
const corpus = new URL('../../fixtures/records', import.meta.url).pathname;
const seed = readSeed();
const world = createWorld({ assets: 5000, owners: 500 });
const numbers = Array.from({ length: 600 }, (_, n) => n);
const shapes = [
  {
    shape: 'asset',
    table: 'assets',
    ordinary: numbers.map((n) => world.assetWriter.write(n, { content: 'full' })),
  },
  {
    shape: 'token_account',
    table: 'token_accounts',
    ordinary: numbers.map((n) => world.tokenAccounts.write(n)),
  },
];

/** Values that stand in another's place. */
const strange = fc.constantFrom(
  'null',
  '0',
  '""',
  '"x"',
  'true',
  '1.5',
  '-1',
  '[]',
  '{}',
  '[1]',
  '[null]',
  '{"a":1}',
  '[{"a":1},{}]',
);

/** Where the JSON value ends that begins at `from`. */
function valueEnd(text: string, from: number): number {
  const token = /"(?:[^"\\]|\\.)*"|[[{]|[\]}]|[\w.+-]+/y;
  let depth = 0;
  for (token.lastIndex = from; ; ) {
    const found = token.exec(text)?.[0] ?? '';
    if (found === '{' || found === '[') depth += 1;
    else if (found === '}' || found === ']') depth -= 1;
    if (depth === 0) return token.lastIndex;
    while (',: '.includes(text[token.lastIndex]!)) token.lastIndex += 1;
  }
}

/** A record in which values of another kind took a value's place, or keys came, or came twice. */
function mutate(text: string, cuts: readonly { at: number; by: string; as: string }[]): string {
  return cuts.reduce((record, { at, by, as }) => {
    const names = [...new Set(Array.from(record.matchAll(/"[\w$]+"(?=:)/g), ([key]) => key))];
    const key = names[at % names.length];
    if (key === undefined) return record;
    const from = record.indexOf(`${key}:`) + key.length + 1;
    const to = valueEnd(record, from);
    const value = record.slice(from, to);
    const changed = { value: by, more: `${value},"more":${by}`, twice: `${value},${key}:${by}` }[as];
    return record.slice(0, from) + changed + record.slice(to);
  }, text);
}

async function openLoader(): Promise<Database> {
  const database = await openDatabase(':memory:', { memoryLimit: '512MB', threads: 1, tempDir: '/tmp' });
  onTestFinished(() => database.close());
  await createShapeMacros(database);
  for (const { ddl } of readTableSpecs()) await database.run(ddl);
  return database;
}

test.each(shapes)('forms change no row of shape $shape', async ({ shape, table, ordinary }) => {
  const mutated = fc.sample(
    fc
      .record({
        text: fc.constantFrom(...ordinary.slice(0, 200)),
        cuts: fc.array(
          fc.record({
            at: fc.integer({ min: 0, max: 999 }),
            by: strange,
            as: fc.constantFrom('value', 'value', 'more', 'twice'),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      })
      .map(({ text, cuts }) => mutate(text, cuts)),
    { numRuns: 1500, seed },
  );
  const nasty = readdirSync(join(corpus, shape)).map((name) =>
    readFileSync(join(corpus, shape, name), 'utf8'),
  );
  const texts = [...ordinary, ...nasty, ...mutated];
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  for (let from = 0; from < texts.length; from += 500) {
    const body = Buffer.from(`{"items":[${texts.slice(from, from + 500).join(',')}]}`);
    const { records } = splitPage(body, { path: ['items'], form: 'array' });
    await log.appendPage(newPage(from / 500 + 1, { shape }), records);
  }
  await log.close();

  const [segment] = await listSegments(dir);
  const lines = readFileSync(pageFile(dir, segment!), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(
    lines.flatMap(({ form_of = [] }) => form_of).filter((form) => form !== null).length,
    `seed ${seed}`,
  ).toBeGreaterThan(texts.length / 2);
  const older = join(dir, 'older.ndjson');
  writeFileSync(
    older,
    lines.map(({ forms: _, form_of: __, ...line }) => `${JSON.stringify(line)}\n`).join(''),
  );

  const database = await openLoader();
  const spec = readTableSpecs().find(({ name }) => name === table)!;
  const query = await shapeQuery(database, spec, shape);
  const records = recordFile(dir, segment!);
  const bytes = texts.map((text) => text.length);
  const read = async (name: string, pages: string) =>
    database.run(`create table ${name} as ${query}`, {
      ...{ pages, records },
      ...readingOf({ longest: Math.max(...bytes), bytes: 3_000_000, count: 1000 }),
    });
  await read('told', pageFile(dir, segment!));
  await read('untold', older);
  const differences = await database.rows(
    'select n, page from ((from told except all from untold) union all (from untold except all from told))',
  );
  expect(differences, `seed ${seed}`).toEqual([]);
  expect(await database.rows('select count(*) as n from told')).toEqual([{ n: BigInt(texts.length) }]);
});
