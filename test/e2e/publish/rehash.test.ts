import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
import { openInstallation } from '../../support/nights.ts';
import { answerList } from '../../support/scripted-list.ts';
import { startNight } from '../night.ts';

const tables = readTableSpecs().flatMap(({ name, history }) => (history ? [name, `past.${name}`] : [name]));

test('after a DuckDB upgrade the hashes are rebuilt, and nothing counts as changed', async () => {
  const night = await startNight({ seed: 3, assets: 400, owners: 40, collections: 2 });
  onTestFinished(() => night.close());
  await night.mustRun();
  night.sandbox.tick(3);
  await night.mustRun();
  const read = () =>
    Promise.all(
      tables.map((table) =>
        night.rows(
          `select '${table}', count(*) as n, bit_xor(hash(columns('.*_hash')))::varchar from ${table}`,
        ),
      ),
    );
  const before = await read();
  expect(JSON.stringify(before)).toContain('past.assets');

  // What a folder looks like whose hashes another version made.
  const build = await DuckDBInstance.create(join(night.data, 'build.duckdb'));
  const connection = await build.connect();
  for (const table of tables) await connection.run(`update ${table} set record_hash = hash(record_hash)`);
  await connection.run(`update assets set base_hash = hash(base_hash), content_hash = hash(content_hash)`);
  await connection.run(`update meta.schema_version set hashed_by = 'v0.9.0'`);
  connection.closeSync();
  build.closeSync();

  const { published } = await night.mustRun();
  for (const [table, counts] of Object.entries(published.tables))
    expect({ table, ...counts }).toMatchObject({ inserted: 0, changed: 0, amended: 0, gone: 0 });
  expect(await read()).toEqual(before);
});

test.each([
  ['whose raw pages are there', true],
  ['whose raw pages are gone', false],
])(
  'a folder of version 3 %s is brought forward, and the next night makes no version',
  async (_, hasPages) => {
    const key = (name: string) => name.padEnd(43, '1');
    const place = await openInstallation({
      'jobs/group.yaml': `describe: test\nmethod: getAssetsByGroup\nparams: {groupKey: collection}\nfor_each: {groupValue: {values: [${key('Group')}]}}\n`,
    });
    const asset = (name: string, more = {}) => ({
      ...{ id: key(name), plugins: { a: 1 }, content: { metadata: { name, attributes: { b: 1, a: 2 } } } },
      ...{ grouping: [{ group_key: 'collection', group_value: key('Group') }] },
      ...more,
    });
    const printed = (prints: number) => ({ supply: { print_current_supply: prints, kind: 'open' } });
    const night = (slot: number, prints: number) =>
      place.night((call) => answerList(call, [asset('Bare'), asset('Print', printed(prints))], { slot }));
    await night(100, 1);
    await night(110, 2);

    // What version 3 made: no group of the prints, their unknown members beside the others, hashes over all of it, and
    // map attributes in the order of the answer.
    const build = await DuckDBInstance.create(join(place.data, 'build.duckdb'));
    const connection = await build.connect();
    for (const table of ['assets', 'past.assets']) {
      await connection.run(`update ${table} set
      base_extra = concat_ws(',', base_extra, supply_extra),
      ${hasPages ? 'attributes = list_reverse(attributes),' : ''}
      base_hash = hash(base_hash), content_hash = hash(content_hash), record_hash = hash(record_hash)`);
      for (const column of ['supply_extra', 'supply_slot', 'supply_seen_at', 'supply_hash'])
        await connection.run(`alter table ${table} drop column ${column}`);
    }
    await connection.run('drop table meta.absent');
    // Makes the rows again of the pages that are there.
    if (hasPages) await connection.run(`update meta.mappings set digest = 'version 3'`);
    await connection.run('update meta.schema_version set version = 3');
    connection.closeSync();
    build.closeSync();

    expect((await night(120, 2)).report?.published.tables.assets).toMatchObject({ changed: 0, inserted: 0 });
    const versions = await place.rows<{ extra: string }>(
      `select rtrim(id, '1') as id, valid_from_slot, print_current_supply as prints, attributes[1].trait_type as first, extra
    from assets_history order by all`,
    );
    const plain = { a: 1 };
    expect(versions.map(({ extra, ...row }) => ({ ...row, extra: JSON.parse(extra) }))).toEqual([
      { id: 'Bare', valid_from_slot: '100', prints: null, first: 'a', extra: { plugins: plain } },
      ...[1, 2].map((prints) => ({
        ...{ id: 'Print', valid_from_slot: `${90 + prints * 10}`, prints: `${prints}`, first: 'a' },
        extra: { plugins: plain, supply: { kind: 'open' } },
      })),
    ]);
  },
);
