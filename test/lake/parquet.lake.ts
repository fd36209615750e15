import { expect, test } from 'vitest';
import { createFixture, insertAssets, insertTokenAccounts } from '../support/export-fixture.ts';
import { python } from './lake-fixture.ts';

/** Rows and exact sum of a u64 column, as each reader finds them when it opens the table's path. */
const program = `
import json, sys
import pandas as pd, polars as pl, pyarrow as pa, pyarrow.dataset as ds, pyarrow.parquet as pq
p, column, typed = sys.argv[1], sys.argv[2], sys.argv[3:]
total = lambda xs: str(sum(int(x) for x in xs if x is not None and x == x))
# pyarrow, which pandas reads with, guesses the type of a folder's values only if none is NULL.
hive = ds.partitioning(pa.schema([(name, pa.string()) for name in typed]), flavor='hive') if typed else 'hive'
found = {}
d = pd.read_parquet(p, partitioning=hive) if typed else pd.read_parquet(p); found['pandas'] = [len(d), total(d[column]), sorted(d.columns)]
d = pl.read_parquet(p); found['polars'] = [d.height, total(d[column]), sorted(d.columns)]
d = pl.scan_parquet(p + '/**/*.parquet', hive_partitioning=True).collect(); found['polars scan'] = [d.height, total(d[column]), sorted(d.columns)]
d = ds.dataset(p, partitioning=hive).to_table(); found['pyarrow'] = [d.num_rows, total(d[column].to_pylist()), sorted(d.column_names)]
d = pq.read_table(p, partitioning=hive); found['pyarrow.parquet'] = [d.num_rows, total(d[column].to_pylist()), sorted(d.column_names)]
print(json.dumps(found))`;

test('the obvious read of a table is right in every engine, after nights, partitions and kept sets', async () => {
  const fixture = await createFixture();
  await fixture.change(
    insertAssets,
    insertTokenAccounts(0, 3000),
    `insert into compression_signatures by name
    select 'signature-' || i as signature, i as tx_slot, i as slot, now() as seen_at, 'run' as run_id, hash(i) as record_hash,
      timestamptz '2026-01-30 23:00:00+00' + interval (i) hour as block_time
    from range(70) r(i)`,
  );
  const layouts = [
    {},
    { token_accounts: ['mint'], compression_signatures: ['day(block_time)'] },
    { token_accounts: ['mint', 'frozen'], compression_signatures: ['month(block_time)'], assets: ['name'] },
  ];
  for (const [n, partitionBy] of layouts.entries()) {
    await fixture.change(
      `update token_accounts set amount = ${n} where address = 'address-${n}'`,
      "update assets set name = 'no text' where name = ''",
    );
    await fixture.export({ partitionBy, keep: 3 });
    for (const [table, column] of [
      ['assets', 'token_supply'],
      ['token_accounts', 'amount'],
      ['token_accounts_history', 'amount'],
      ['compression_signatures', 'record_hash'],
    ] as const) {
      const [row] = await fixture.query<{ rows: bigint; total: string; columns: string[] }>(
        `select (select count(*) from ${table}) as rows,
          (select coalesce(sum(${column}::hugeint), 0)::varchar from ${table}) as total`,
      );
      const names = await fixture.query<{ column_name: string }>(
        `select column_name from (describe ${table})`,
      );
      const split = ((partitionBy as Record<string, readonly string[]>)[table] ?? [])
        .filter((text) => text.includes('('))
        .map((text) => text.replace(/(\w+)\((\w+)\)/, '$2_$1'));
      const expected = [
        Number(row!.rows),
        row!.total,
        [...names.map((name) => name.column_name), ...split].sort(),
      ];
      // Of the last layout, frozen is NULL in every row, and the name of an asset in one.
      const by = n < 2 ? [] : ((partitionBy as Record<string, readonly string[]>)[table] ?? []);
      const typed = by.map((text) => text.replace(/(\w+)\((\w+)\)/, '$2_$1'));
      const found = await python<Record<string, unknown>>(
        program,
        `${fixture.lake}/${table}`,
        column,
        ...typed,
      );
      expect(found, `${table}, layout ${n}`).toEqual(
        Object.fromEntries(Object.keys(found).map((engine) => [engine, expected])),
      );
      const [duck] = await fixture.query<{ rows: bigint; total: string }>(
        `select count(*) as rows, sum(${column})::varchar as total from '${fixture.lake}/${table}/**/*.parquet'`,
      );
      expect([Number(duck!.rows), duck!.total]).toEqual(expected.slice(0, 2));
    }
  }
});
