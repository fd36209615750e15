import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { mergeStatement } from '../../src/export/merge-statement.ts';
import { createFixture, insertAssets, insertTokenAccounts } from '../support/export-fixture.ts';
import { compareTables, createCatalogFixture, python } from './lake-fixture.ts';

/** Runs statements in one session of Spark, and prints the rows of each as lists of texts. */
const program = `
import json, sys, os
from pyspark.sql import SparkSession
catalog, s3, statements = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
jars = ','.join(os.path.join('.lake-tests', name) for name in ('iceberg-spark-runtime-4.1_2.13-1.12.0.jar', 'iceberg-aws-bundle-1.12.0.jar'))
options = {
  'spark.jars': jars, 'spark.ui.enabled': 'false', 'spark.driver.memory': '1g', 'spark.sql.shuffle.partitions': '2',
  'spark.driver.bindAddress': '127.0.0.1', 'spark.driver.host': '127.0.0.1', 'spark.sql.session.timeZone': 'UTC',
  'spark.sql.extensions': 'org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions',
  'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog', 'spark.sql.catalog.lake.type': 'rest', 'spark.sql.catalog.lake.uri': catalog,
  'spark.sql.catalog.lake.io-impl': 'org.apache.iceberg.aws.s3.S3FileIO', 'spark.sql.catalog.lake.s3.endpoint': s3,
  'spark.sql.catalog.lake.s3.path-style-access': 'true', 'spark.sql.catalog.lake.client.region': 'us-east-1',
}
builder = SparkSession.builder.master('local[2]')
for key, value in options.items(): builder = builder.config(key, value)
spark = builder.getOrCreate()
found = []
for statement in statements:
  rows = spark.read.parquet(statement).selectExpr('count(*)', 'sum(amount)').collect() if statement.startswith('/') else spark.sql(statement).collect()
  found.append([[str(value) for value in row] for row in rows])
print(json.dumps(found))`;

function spark(...statements: string[]): Promise<string[][][]> {
  return python(program, process.env.LAKE_CATALOG!, process.env.LAKE_S3!, JSON.stringify(statements));
}

test('Spark reads the folder of a table as it is, also where it is partitioned', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 300));
  await fixture.export({ keep: 3 });
  await fixture.change("update token_accounts set amount = 7 where address = 'address-7'");
  await fixture.export({ keep: 3, partitionBy: { token_accounts_history: ['mint', 'owner'] } });
  const [row] = await fixture.query<{ amount: string }>(
    'select sum(amount::hugeint)::varchar as amount from token_accounts',
  );
  const expected = [['300', row!.amount]];
  const found = await spark(
    resolve(fixture.lake, 'token_accounts'),
    resolve(fixture.lake, 'token_accounts_history'),
  );
  expect(found).toEqual([expected, expected]);
});

test('Iceberg: Spark reads, rewrites and updates; we go on; its MERGE gives the same rows', async () => {
  const fixture = await createCatalogFixture('iceberg');
  await fixture.change(insertAssets, insertTokenAccounts(0, 500));
  const only = { tables: ['token_accounts'], changes: true };
  await fixture.night(only);
  await fixture.change(
    "update token_accounts set owner = 'b', record_hash = 1, amount = 18446744073709551615 where address = 'address-3'",
  );
  await fixture.change(
    "delete from token_accounts where address = 'address-4'",
    insertTokenAccounts(500, 510),
  );
  await fixture.night(only);
  const t = `lake.${fixture.namespace}.token_accounts`;
  const own = `lake.${fixture.namespace}.copy`;
  const described = await fixture.query<{ name: string; type: string }>(
    "select column_name as name, data_type as type from duckdb_columns() where schema_name = 'main' and table_name = 'token_accounts'",
  );
  const columns = described.map((column) => ({ ...column, lakeType: column.type }));
  const merge = mergeStatement({ name: 'token_accounts', columns, rows: 0 }, 'namespace', 'spark')
    .replace(/^--.*\n/gm, '')
    .replace(/;\s*$/, '')
    .replace('merge into `token_accounts`', `merge into ${own}`)
    .replace('`namespace`.', `lake.${fixture.namespace}.`);
  const totals = (table: string) => `select count(*), sum(amount), sum(record_hash) from ${table}`;
  const [read, , , merged, again] = (
    await spark(
      totals(t),
      `create table ${own} using iceberg as select * from ${t} where false`,
      merge,
      totals(own),
      `${totals(t)} minus ${totals(own)}`,
      `call lake.system.rewrite_data_files('${fixture.namespace}.token_accounts')`,
      `update ${t} set owner = 'foreign' where address = 'address-9'`,
    )
  ).slice(0, 5);
  const [expected] = await fixture.query<{ rows: bigint; amount: string; hash: string }>(
    'select count(*) as rows, sum(amount::hugeint)::varchar as amount, sum(record_hash::hugeint)::varchar as hash from token_accounts',
  );
  const row = [[`${expected!.rows}`, expected!.amount, expected!.hash]];
  expect({ read, merged, again }).toEqual({ read: row, merged: row, again: [] });
  expect(await fixture.night(only)).toMatchObject([{ changed: 2, written: true }]);
  expect(await fixture.inLake((database) => compareTables(fixture, database, ['token_accounts']))).toEqual(
    [],
  );
});
