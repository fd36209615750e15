import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, onTestFinished, test } from 'vitest';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
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
  expect(Object.keys(published.tables).length).toBeGreaterThan(2);
  for (const [table, counts] of Object.entries(published.tables))
    expect({ table, ...counts }).toMatchObject({ inserted: 0, changed: 0, amended: 0, gone: 0 });
  expect(await read()).toEqual(before);
});
