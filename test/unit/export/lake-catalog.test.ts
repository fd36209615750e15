import { expect, test } from 'vitest';
import { type CatalogSettings, describeCatalog } from '../../../src/export/lake-catalog.ts';
import { describeDelta } from '../../../src/export/lake-delta-sql.ts';
import { mergeStatement } from '../../../src/export/merge-statement.ts';
import { readTableSpec } from '../../../src/warehouse/table-spec.ts';

const settings: CatalogSettings = {
  format: 'iceberg',
  lake: '/lake',
  catalog: {
    uri: null,
    endpoint: 'https://catalog.example',
    warehouse: 'wh',
    namespace: 'ledgerlake',
    auth: 'oauth2',
  },
  endpoint: null,
  forcePathStyle: false,
};

test('credentials of a catalog come from the environment, and are refused elsewhere', () => {
  expect(() => describeCatalog(settings, {})).toThrow('the environment has no credentials for the catalog');
  const catalog = describeCatalog(settings, { LEDGERLAKE_CATALOG_TOKEN: "to'ken" });
  expect(catalog.attach).toEqual([
    "create or replace secret lake_catalog (type iceberg, token 'to''ken')",
    "attach 'wh' as lake (type iceberg, endpoint 'https://catalog.example', secret lake_catalog)",
  ]);
  expect(catalog.address).toBe('https://catalog.example, ledgerlake');
});

test('u64 are decimals in Iceberg and stay in a DuckLake; a day is a unit of one, and three parts of a date of the other', () => {
  const iceberg = describeCatalog({ ...settings, catalog: { ...settings.catalog, auth: 'none' } }, {});
  const duckLake = describeCatalog({ ...settings, format: 'ducklake' }, {});
  const types = ['UBIGINT', 'STRUCT("UBIGINT" JSON)[]', 'SMALLINT', 'HUGEINT'];
  expect(types.map(iceberg.columnType)).toEqual([
    'DECIMAL(20,0)',
    'STRUCT("UBIGINT" VARCHAR)[]',
    'INTEGER',
    'DECIMAL(38,0)',
  ]);
  expect(types.map(duckLake.columnType)).toEqual([
    'UBIGINT',
    'STRUCT("UBIGINT" JSON)[]',
    'SMALLINT',
    'DECIMAL(38,0)',
  ]);
  const columns = [{ name: 'at', type: 'TIMESTAMPTZ' }];
  const created = 'create table if not exists lake."ledgerlake"."t" ("at" TIMESTAMPTZ)';
  expect(iceberg.create('t', columns, ['day(at)'])).toEqual([`${created} partitioned by (day("at"))`]);
  expect(duckLake.create('t', columns, ['day(at)'])).toEqual([
    created,
    'alter table lake."ledgerlake"."t" set partitioned by (year("at"), month("at"), day("at"))',
  ]);
});

test('a catalog leaves out what moves in every row of a night; the MERGE is over the same columns', () => {
  const { types } = readTableSpec('compression_signatures');
  const table = {
    name: 'compression_signatures',
    columns: [...types].map(([name, type]) => ({ name, type, lakeType: type })),
    rows: 0,
  };
  expect(describeDelta(table).columns).toHaveLength(types.size);
  const accounts = readTableSpec('token_accounts').types;
  const delta = describeDelta({
    name: 'token_accounts',
    columns: [...accounts].map(([name, type]) => ({ name, type, lakeType: type })),
    rows: 0,
  });
  expect(
    [...accounts.keys()].filter((name) => !delta.columns.some((column) => column.name === name)),
  ).toEqual(['slot', 'seen_at']);
  const merge = mergeStatement(table, 'ledgerlake', 'spark');
  expect(merge).toContain('on t.`signature` <=> c.`signature`');
  expect(merge).toContain('from `ledgerlake`.`compression_signatures_changes`');
  expect(mergeStatement(table, 'ledgerlake', 'trino')).toContain(
    'on t."signature" is not distinct from c."signature"',
  );
});
