import { expect, test } from 'vitest';
import { insertAssets, insertTokenAccounts } from '../support/export-fixture.ts';
import { type CatalogFixture, compareTables, createCatalogFixture, python } from './lake-fixture.ts';

const tables = ['assets', 'assets_history', 'token_accounts', 'token_accounts_history'];

/** A night: some accounts change owner, some leave, some come, every confirmed row has another slot. */
function nightOf(n: number): string[] {
  const ended = `null::bigint as valid_to_slot, timestamptz '2026-02-01' + interval ${n} day as valid_to`;
  const moved = `token_accounts where hash(address || ${n}) % 100 = 0`;
  return [
    `insert into past.token_accounts by name select * exclude (followed), ${ended}, null::varchar as gone_reason from ${moved}`,
    `update token_accounts set owner = 'owner-${n}', amount = hash(address || 'a${n}')::ubigint, changed_at = timestamptz '2026-02-01' + interval ${n} day,
      changed_slot = 300000000 + ${n}, run_id = 'run-${n}', record_hash = hash(record_hash) where hash(address || ${n}) % 100 = 0`,
    `insert into past.token_accounts by name select * exclude (followed), ${ended}, 'not_listed' as gone_reason
      from token_accounts where hash(address || 'gone' || ${n}) % 500 = 0`,
    `delete from token_accounts where hash(address || 'gone' || ${n}) % 500 = 0`,
    insertTokenAccounts(5000 + 10 * n, 5010 + 10 * n),
    `update token_accounts set slot = slot + 1, seen_at = seen_at + interval 1 day`,
    `update assets set burnt = true, changed_slot = ${n}, record_hash = hash(record_hash) where id = 'asset-${n % 4}'`,
  ];
}

const only = (...names: string[]) => ({ tables: names });

async function expectSame(fixture: CatalogFixture): Promise<void> {
  expect(await fixture.inLake((database) => compareTables(fixture, database, tables))).toEqual([]);
}

for (const format of ['ducklake', 'iceberg'] as const) {
  test(`${format}: ten nights, each equal to the warehouse; what did not change is not touched`, async () => {
    const fixture = await createCatalogFixture(format);
    await fixture.change(insertAssets, insertTokenAccounts(0, 5000));
    expect(await fixture.night({ changes: true })).toMatchObject([
      { rows: 4 },
      { rows: 4 },
      { rows: 5000 },
      { rows: 5000 },
    ]);
    await expectSame(fixture);
    for (let n = 1; n <= 10; n += 1) {
      await fixture.change(...nightOf(n));
      const results = await fixture.night({ changes: true });
      expect(
        results.map(({ written }) => written),
        `night ${n}`,
      ).toEqual([true, true, true, true]);
      const { changed } = results.find(({ table }) => table === 'token_accounts')!;
      expect(changed, `night ${n}`).toBeLessThan(250);
      if (n % 3 === 1) await expectSame(fixture);
      // Applied twice, a night changes nothing, also where only slots moved.
      await fixture.change('update token_accounts set slot = slot + 1');
      expect((await fixture.night({ changes: true })).map(({ written }) => written)).toEqual([
        false,
        false,
        false,
        false,
      ]);
    }
    await expectSame(fixture);
    await fixture.inLake(async (database) => {
      // What changed adds up to what is there.
      const [row] = await database.rows<{ rows: bigint; expected: bigint }>(
        `select (select count(*) filter (change_type = 'insert') - count(*) filter (change_type = 'delete')
            from ${fixture.catalog.schema}token_accounts_changes) as rows,
          (select count(*) from warehouse.main.token_accounts) as expected`,
      );
      expect(row!.rows).toBe(row!.expected);
      const exports = await database.rows<{ n: bigint }>(
        `select count(*) as n from ${fixture.catalog.schema}ledgerlake_exports where table_name = 'token_accounts'`,
      );
      expect(exports).toEqual([{ n: 11n }]);
    });
  });

  test(`${format}: another writer's changes are found and undone; its maintenance is not in the way`, async () => {
    const fixture = await createCatalogFixture(format);
    await fixture.change(insertTokenAccounts(0, 200));
    await fixture.night();
    const t = `${fixture.catalog.schema}token_accounts`;
    await fixture.inLake((database) =>
      database.run(`update ${t} set owner = 'somebody' where address = 'address-7'`),
    );
    expect(await fixture.night(only('token_accounts'))).toMatchObject([{ changed: 2, written: true }]);
    await fixture.inLake((database) =>
      database.run(`insert into ${t} select * from ${t} where address = 'address-8'`),
    );
    expect(await fixture.night(only('token_accounts'))).toMatchObject([{ written: true, rows: 200 }]);
    await fixture.inLake((database) => database.run(`delete from ${t} where address = 'address-9'`));
    expect(await fixture.night(only('token_accounts'))).toMatchObject([{ changed: 1 }]);
    expect(await fixture.night(only('token_accounts'))).toMatchObject([{ written: false }]);
    const differences = await fixture.inLake((database) =>
      compareTables(fixture, database, ['token_accounts']),
    );
    expect(differences).toEqual([]);
  });

  test(`${format}: belongs to one data folder; gone tables come back; new columns are added`, async () => {
    const [fixture, other] = [await createCatalogFixture(format), await createCatalogFixture(format)];
    await fixture.change(insertTokenAccounts(0, 120));
    await other.change(insertTokenAccounts(0, 15));
    await fixture.night();
    await expect(
      other.export({ catalog: fixture.catalog, extensionDirectory: process.env.LAKE_EXTENSIONS! }),
    ).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('belongs to another data folder'),
    });
    const t = `${fixture.catalog.schema}token_accounts`;
    await fixture.inLake((database) => database.run(`alter table ${t} drop column owner`));
    expect(await fixture.night(only('token_accounts'))).toMatchObject([{ written: true }]);
    await fixture.inLake((database) => database.run(`drop table ${t}`));
    expect(await fixture.night(only('token_accounts'))).toMatchObject([{ written: true, rows: 120 }]);
    expect(await fixture.inLake((database) => compareTables(fixture, database, ['token_accounts']))).toEqual(
      [],
    );
  });
}

test('iceberg: PyIceberg and Polars read rows, exact sums and the days of partitions', async () => {
  const fixture = await createCatalogFixture('iceberg');
  await fixture.change(
    insertTokenAccounts(0, 3000),
    `insert into compression_signatures by name
    select 'signature-' || i as signature, i as tx_slot, i as slot, now() as seen_at, 'run' as run_id, hash(i) as record_hash,
      timestamptz '2026-01-30 23:00:00+00' + interval (i) hour as block_time
    from range(30) r(i)`,
  );
  const partitionBy = { compression_signatures: ['day(block_time)'] };
  await fixture.night({ partitionBy });
  await fixture.change(...nightOf(1));
  await fixture.night({ partitionBy });
  const [expected] = await fixture.query<{ rows: bigint; amount: string; hash: string }>(
    'select count(*) as rows, sum(amount::hugeint)::varchar as amount, sum(record_hash::hugeint)::varchar as hash from token_accounts',
  );
  const program = `
import json, sys, polars as pl
from pyiceberg.catalog import load_catalog
c = load_catalog('x', **{'type': 'rest', 'uri': sys.argv[1], 's3.endpoint': sys.argv[2], 's3.access-key-id': 'test', 's3.secret-access-key': 'test', 's3.region': 'us-east-1'})
t = c.load_table(sys.argv[3] + '.token_accounts')
a = t.scan(selected_fields=('address', 'amount', 'record_hash')).to_arrow()
p = pl.scan_iceberg(t).select(pl.len(), pl.col('amount').cast(pl.String)).collect()
s = c.load_table(sys.argv[3] + '.compression_signatures')
print(json.dumps({
  'rows': a.num_rows, 'amount': str(sum(x for x in a['amount'].to_pylist() if x is not None)), 'hash': str(sum(a['record_hash'].to_pylist())),
  'polars': [p.height, str(sum(int(x) for x in p['amount'] if x is not None))],
  'days': sorted(str(list(x['partition'].values())[0]) for x in s.inspect.partitions().to_pylist()),
}))`;
  const args = [process.env.LAKE_CATALOG!, process.env.LAKE_S3!, fixture.namespace];
  const { rows, amount, hash } = expected!;
  expect(await python(program, ...args)).toEqual({
    ...{ rows: Number(rows), amount, hash, polars: [Number(rows), amount] },
    days: ['2026-01-30', '2026-01-31', '2026-02-01'],
  });
});

test('iceberg: a foreign writer that commits meanwhile keeps its commits, and the lake is right after', async () => {
  const fixture = await createCatalogFixture('iceberg');
  await fixture.change(insertTokenAccounts(0, 300));
  await fixture.night(only('token_accounts'));
  const t = `${fixture.catalog.schema}token_accounts`;
  const nights = (async () => {
    for (let n = 1; n <= 5; n += 1) {
      await fixture.change(
        `update token_accounts set amount = ${n}, record_hash = hash(address || ${n}) where hash(address) % 10 = 0`,
      );
      await fixture.night(only('token_accounts')).catch((error) => {
        if (error.exitCode !== 74) throw error;
      });
    }
  })();
  let committed = 0;
  for (let n = 0; n < 10; n += 1)
    await fixture.inLake(async (database) => {
      await database.run(`create table if not exists ${fixture.catalog.schema}theirs (n integer)`);
      await database
        .run(`update ${t} set owner = 'theirs' where address = 'address-${n}'`)
        .catch(() => undefined);
      await database.run(`insert into ${fixture.catalog.schema}theirs values (${n})`);
      committed += 1;
    });
  await nights;
  await fixture.night(only('token_accounts'));
  await fixture.inLake(async (database) => {
    expect(await compareTables(fixture, database, ['token_accounts'])).toEqual([]);
    const [row] = await database.rows(`select count(*)::integer as n from ${fixture.catalog.schema}theirs`);
    expect(row).toEqual({ n: committed });
  });
});
