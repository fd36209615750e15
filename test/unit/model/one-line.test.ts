import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { listSegments, pageFile, recordFile } from '../../../src/landing/segment-files.ts';
import { splitPage } from '../../../src/landing/split.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { createShapeMacros, readingOf } from '../../../src/load/shape-query.ts';
import { tableMappingSql } from '../../../src/model/mapping-sql.ts';
import { parseColumn, parseTableModel } from '../../../src/model/table-model.ts';
import { openDatabase } from '../../../src/warehouse/database.ts';
import { stagedHashes } from '../../../src/warehouse/row-groups.ts';
import { toTableSpec } from '../../../src/warehouse/table-spec.ts';
import { makeLanding, newPage } from '../../support/pages.ts';

const file = 'tables/token_accounts.sql';
const text = readFileSync(new URL(`../../../sql/${file}`, import.meta.url), 'utf8');
const address = 'Acct1111111111111111111111111111111111111111';

/** The staged rows of records, with the table as it is and one line more. */
async function stage(line: string, records: readonly string[]): Promise<Record<string, unknown>[]> {
  const model = parseTableModel(file, text.replace('extra json\n', `${line}extra json\n`));
  const spec = toTableSpec(model);
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  const body = Buffer.from(`[${records.join(',')}]`);
  await log.appendPage(
    newPage(1, { shape: 'token_account' }),
    splitPage(body, { path: [], form: 'array' }).records,
  );
  await log.close();
  const segment = (await listSegments(dir))[0] as number;
  const database = await openDatabase(':memory:', { memoryLimit: '256MB', threads: 1, tempDir: '/tmp' });
  onTestFinished(() => database.close());
  await createShapeMacros(database);
  const { macro, query } = tableMappingSql(model, 'token_account');
  await database.run(macro);
  await database.run(spec.ddl);
  const pages = pageFile(dir, segment);
  const hashes = stagedHashes(spec, [...spec.types.keys()]).join(', ');
  await database.run(`create table staged as select *, ${hashes} from (${query})`, {
    ...{ pages, records: recordFile(dir, segment) },
    ...readingOf({ longest: 1000, bytes: 1000, count: records.length }),
  });
  // The table takes every column that a staged row has for it.
  await database.run(
    `insert into token_accounts by name
    select columns(c -> list_contains($names, c)), staged_base_hash as record_hash from staged`,
    {
      names: [...spec.types.keys()],
    },
  );
  return database.rows('select * from staged order by n');
}

const record = (more: string) => `{"address":"${address}","amount":1${more}}`;
const line = 'rent ubigint <- meta.rent -- What keeping it costs.\n';

test('a line is a column: table, comment, value, cast error, known members and hash follow from it', async () => {
  const spec = toTableSpec(parseTableModel(file, text.replace('extra json\n', `${line}extra json\n`)));
  expect(spec.create).toContain('\n  rent ubigint,\n');
  expect(spec.ddl).toContain(`comment on column token_accounts.rent is 'What keeping it costs.';`);

  const values = [
    ',"meta":{"rent":18446744073709551615}',
    ',"meta":{"rent":-1,"since":5}',
    ',"meta":7',
    ',"meta":{"rent":2}',
  ];
  const rows = await stage(line, values.map(record));
  expect(rows.map(({ rent, extra, cast_errors }) => ({ rent, extra, cast_errors }))).toEqual([
    { rent: 18446744073709551615n, extra: null, cast_errors: [] },
    {
      ...{ rent: null, extra: '{"meta":{"since":5}}' },
      cast_errors: [{ column_name: 'rent', reason: 'does not fit its type', raw: '-1' }],
    },
    {
      ...{ rent: null, extra: null },
      cast_errors: [{ column_name: 'meta', reason: 'is not an object', raw: '7' }],
    },
    { rent: 2n, extra: null, cast_errors: [] },
  ]);
  expect(new Set([rows[0], rows[3]].map((row) => row?.staged_base_hash)).size).toBe(2);
});

test('without the line the same records have the member in extra, and one hash', async () => {
  const rows = await stage('', [',"meta":{"rent":1}', ',"meta":{"rent":2}'].map(record));
  expect(rows.map(({ extra }) => extra)).toEqual(['{"meta":{"rent":1}}', '{"meta":{"rent":2}}']);
  expect(new Set(rows.map((row) => row.staged_base_hash)).size).toBe(1);
});

test.each([
  ['rent ubigint loud <- rent', 'unknown mark "loud"'],
  ['<- rent -- What?', 'no column'],
])('what is no line of a column is told with its place: %s', (wrong, told) => {
  expect(() => parseColumn(wrong, { file, line: 7 }, [])).toThrow(`sql/tables/token_accounts.sql:7: ${told}`);
});
