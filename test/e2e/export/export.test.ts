import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Manifest } from '../../../src/export/lake-manifest.ts';
import { readTableSpecs } from '../../../src/warehouse/table-spec.ts';
import {
  createFixture,
  insertAssets,
  insertTokenAccounts,
  listTree,
  readJson,
} from '../../support/export-fixture.ts';

const tableNames = readTableSpecs()
  .flatMap(({ name, history }) => (history ? [name, `${name}_history`] : name))
  .sort();

const current = (lake: string, table: string) =>
  readJson<Manifest>(join(lake, '_manifests', `${table}.json`));

/** Id of the set that readers of the table see. */
const shown = async (lake: string, table: string) => basename(await readlink(join(lake, table)));

test('the files hold exactly the rows of every base table and history, u64 as decimals and JSON as text', async () => {
  const fixture = await createFixture();
  const { lake } = fixture;
  await fixture.change(insertAssets, insertTokenAccounts(0, 5000));
  const results = await fixture.export();
  const filled: Record<string, number> = { assets: 4, token_accounts: 5000 };
  expect(results.map(({ table, rows, written }) => [table, rows, written])).toEqual(
    Object.entries(filled).flatMap(([table, rows]) => [
      [table, rows, true],
      [`${table}_history`, rows, true],
    ]),
  );
  // Tables without rows make no folder.
  expect((await readdir(lake)).sort()).toEqual(
    ['.sets', '_lake.json', '_manifests', ...results.map(({ table }) => table)].sort(),
  );
  for (const { table, rows } of results) {
    const files = `read_parquet('${lake}/${table}/*.parquet')`;
    const found = await fixture.query(
      `select
        (select count(*) from ${files}) as rows,
        (select count(*) from (from ${table} except all select * from ${files})) as missing,
        (select count(*) from (select * from ${files} except all from ${table})) as invented`,
    );
    expect({ table, found }).toEqual({ table, found: [{ rows: BigInt(rows), missing: 0n, invented: 0n }] });
  }
  const { schema } = await current(lake, 'token_accounts');
  expect(Object.fromEntries(schema.map(({ name, type }) => [name, type]))).toMatchObject({
    amount: 'DECIMAL(20,0)',
    record_hash: 'DECIMAL(20,0)',
    burnt: 'VARCHAR',
    slot: 'BIGINT',
    seen_at: 'TIMESTAMP WITH TIME ZONE',
  });
  const described = await fixture.query<{ column_name: string; column_type: string }>(
    `describe from read_parquet('${lake}/assets/*.parquet')`,
  );
  expect((await current(lake, 'assets')).schema).toEqual(
    described.map(({ column_name: name, column_type: type }) => ({ name, type })),
  );
});

test('the manifest states files, checksums, slots and exact sums', async () => {
  const fixture = await createFixture();
  await fixture.change(insertAssets, insertTokenAccounts(0, 5000));
  const [assets] = await fixture.export({ tables: ['assets', 'token_accounts'] });
  const manifest = await current(fixture.lake, 'assets');
  const [file] = manifest.files;
  const bytes = await readFile(join(fixture.lake, file!.path));
  expect(manifest).toMatchObject({
    table: 'assets',
    export_id: assets!.exportId,
    rows: 4,
    files: [
      {
        path: `.sets/assets/${assets!.exportId}/${assets!.exportId}-0.parquet`,
        rows: 4,
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      },
    ],
    slot: { min: 8, max: 10 },
    partition_by: [],
  });
  expect(manifest.sums.token_supply).toBe('18455751272964292608');
  expect(manifest.sums.record_hash).toBe('73786976294838206454');
  expect(manifest.sums.content_hash).toBe('0');
  expect((await current(fixture.lake, 'token_accounts')).sums.amount).toBe('92233720368547745577500');
  expect(assets).toMatchObject({ bytes: bytes.length, files: 1 });
});

test('files are 0640 (or as configured) in folders of 0750', async () => {
  const fixture = await createFixture();
  await fixture.change(insertAssets);
  const [set] = await fixture.export({ tables: ['assets'], fileMode: 0o440 });
  const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  expect(await modeOf(fixture.lake)).toBe('750');
  expect(await modeOf(join(fixture.lake, '_manifests', 'assets.json'))).toBe('440');
  expect(await modeOf(set!.path)).toBe('750');
  for (const name of await readdir(set!.path)) expect(await modeOf(join(set!.path, name))).toBe('440');
});

test('a table that did not change is not written; any change of a value, or of the layout, is', async () => {
  const fixture = await createFixture();
  await fixture.change(insertAssets, insertTokenAccounts(0, 100));
  await fixture.export();
  const before = await listTree(fixture.lake);
  const again = await fixture.export();
  expect(again.filter(({ written }) => written)).toEqual([]);
  expect(await listTree(fixture.lake)).toEqual(before);

  const writtenAfter = async (statement: string) => {
    await fixture.change(statement);
    return (await fixture.export()).filter(({ written }) => written).map(({ table }) => table);
  };
  expect(await writtenAfter("update assets set slot = slot + 1 where id = 'asset-2'")).toEqual([
    'assets',
    'assets_history',
  ]);
  expect(await writtenAfter("update token_accounts set amount = 1 where address = 'address-5'")).toEqual([
    'token_accounts',
    'token_accounts_history',
  ]);
  expect(await writtenAfter("delete from token_accounts where address = 'address-5'")).toEqual([
    'token_accounts',
    'token_accounts_history',
  ]);
  const [relaid] = await fixture.export({
    tables: ['token_accounts'],
    partitionBy: { token_accounts: ['mint'] },
  });
  expect(relaid!.written).toBe(true);
});

test('a set somebody damaged is written anew', async () => {
  const fixture = await createFixture();
  await fixture.change(insertAssets);
  const [set] = await fixture.export({ tables: ['assets'] });
  await writeFile(join(set!.path, `${set!.exportId}-0.parquet`), 'PAR1');
  const [repaired] = await fixture.export({ tables: ['assets'] });
  expect(repaired!.written).toBe(true);
  expect(await shown(fixture.lake, 'assets')).toBe(repaired!.exportId);
});

test('only the last sets are kept, and what a killed export left goes', async () => {
  const fixture = await createFixture();
  const { lake } = fixture;
  const ids: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    await fixture.change(insertTokenAccounts(n * 10, n * 10 + 10));
    const [set] = await fixture.export({ tables: ['token_accounts'], keep: 3 });
    ids.push(set!.exportId);
  }
  expect([...ids].sort()).toEqual(ids);
  const sets = join(lake, '.sets', 'token_accounts');
  expect((await readdir(sets)).sort()).toEqual(ids.slice(1));

  // Killed while writing, after the rename of the set, and before the rename of the link.
  await mkdir(join(sets, 'draft-20260101T000000000Z', 'deep'), { recursive: true });
  await mkdir(join(sets, '29990101T000000000Z'));
  await symlink('nowhere', join(sets, 'link'));
  await fixture.change(insertTokenAccounts(100, 110));
  const [last] = await fixture.export({ tables: ['token_accounts'], keep: 1 });
  expect(await readdir(sets)).toEqual([last!.exportId]);

  // A table that has no rows any more is not there; its manifest says so.
  await fixture.change('delete from token_accounts');
  expect(await fixture.export({ tables: ['token_accounts'], keep: 1 })).toMatchObject([
    { rows: 0, files: 0 },
  ]);
  expect(await readdir(lake)).not.toContain('token_accounts');
  expect(await current(lake, 'token_accounts')).toMatchObject({ rows: 0, files: [] });
  expect(await fixture.export({ tables: ['token_accounts'], keep: 1 })).toEqual([]);
});

test('a clock set back does not make a new set older than the current one', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 10));
  await mkdir(join(fixture.lake, '.sets/token_accounts/29990101T000000000Z'), { recursive: true });
  await symlink('.sets/token_accounts/29990101T000000000Z', join(fixture.lake, 'token_accounts'));
  const [set] = await fixture.export({ tables: ['token_accounts'] });
  expect(set!.exportId).toBe('29990101T000000001Z');
});

test('files split by a column, by size, and of an empty table, all add up', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 300_000));
  const split = { partitionBy: { token_accounts: ['mint', 'frozen'], compression_signatures: ['tx_slot'] } };
  const sets = await fixture.export({ ...split, tables: ['token_accounts', 'compression_signatures'] });
  expect(sets.map(({ table, rows, files }) => [table, rows, files])).toEqual([
    ['token_accounts', 300_000, 3],
  ]);
  const partitioned = await current(fixture.lake, 'token_accounts');
  expect(partitioned.files.map(({ path, rows }) => [path, rows])).toEqual(
    [0, 1, 2].map((n) => [
      `.sets/token_accounts/${partitioned.export_id}/mint=mint-${n}/frozen=__HIVE_DEFAULT_PARTITION__/${partitioned.export_id}-0.parquet`,
      100_000,
    ]),
  );
  expect(partitioned.partition_by).toEqual(['mint', 'frozen']);

  await fixture.export({ tables: ['token_accounts'], fileBytes: 100_000 });
  const { files, sums } = await current(fixture.lake, 'token_accounts');
  expect(files.length).toBeGreaterThan(1);
  expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(300_000);
  expect(sums).toEqual(partitioned.sums);
});

test('rows of 100 KB, of which DuckDB holds 2,048 at a time: with the memory it takes', async () => {
  const fixture = await createFixture();
  await fixture.change(`
    insert into webhooks (webhook_id, webhook_url, seen_at, run_id, record_hash)
    select n::varchar, repeat(md5(n::varchar), 3200), now(), 'run', n from range(2500) r(n)`);
  const [set] = await fixture.export({ tables: ['webhooks'] });
  expect(set).toMatchObject({ rows: 2500, written: true });
  const [row] = await fixture.query<{ rows: bigint; characters: bigint }>(
    `select count(*) as rows, sum(length(webhook_url))::bigint as characters from '${set!.path}/*.parquet'`,
  );
  expect(row).toEqual({ rows: 2500n, characters: 2500n * 102_400n });
});

test('more partitions than memory has buffers for: a file each, with its rows', async () => {
  const fixture = await createFixture();
  // 300 collections, one of them NULL.
  await fixture.change(`insert into assets by name
    select
      'id-' || i as id, 'V1_NFT' as interface, repeat(md5(i::varchar), 10) as description,
      nullif('c-' || (i % 300), 'c-0') as collection,
      [{trait_type: 'a', value: md5(i::varchar)}] as attributes,
      300000000 + i as slot, timestamptz '2026-01-01' as seen_at, seen_at as changed_at, 'run' as run_id,
      hash(i) as record_hash
    from range(3000) r(i)`);
  await fixture.export({ tables: ['assets'], partitionBy: { assets: ['collection'] } });
  const { files, export_id: id } = await current(fixture.lake, 'assets');
  expect(files).toHaveLength(300);
  expect(files.every(({ rows, path }) => rows === 10 && path.endsWith(`/${id}-0.parquet`))).toBe(true);
  const rows = `select id, description, attributes, slot, collection from`;
  const read = `${rows} read_parquet('${fixture.lake}/assets/**/*.parquet')`;
  expect(
    await fixture.query(`(${rows} assets except all ${read}) union all (${read} except all ${rows} assets)`),
  ).toEqual([]);
  // The column is in the path or in the file: readers that merge the files' columns refuse it in both.
  const { schema } = await current(fixture.lake, 'assets');
  const inFiles = await fixture.query<{ column_name: string }>(
    `describe from read_parquet('${fixture.lake}/assets/**/*.parquet', hive_partitioning = false)`,
  );
  expect([...inFiles.map(({ column_name: name }) => name), 'collection']).toEqual(
    schema.map(({ name }) => name),
  );
  expect(await readdir(join(fixture.root, 'temp'))).toEqual([]);
});

test('files split by the day of a time are found by day, and hold the time', async () => {
  const fixture = await createFixture();
  await fixture.change(`insert into compression_signatures by name
    select 'signature-' || i as signature, i as tx_slot, i as slot, now() as seen_at, 'run' as run_id, hash(i) as record_hash,
      case when i > 0 then timestamptz '2026-01-30 23:00:00+00' + interval (i) hour end as block_time
    from range(30) r(i)`);
  const partitionBy = { compression_signatures: ['day(block_time)'] };
  await fixture.export({ tables: ['compression_signatures'], partitionBy });
  const files = `read_parquet('${fixture.lake}/compression_signatures/**/*.parquet')`;
  expect(
    await fixture.query(
      `select block_time_day::varchar as day, count(*) as rows, bool_and(block_time_day is not distinct from block_time::date) as same
      from ${files} group by 1 order by 1 nulls last`,
    ),
  ).toEqual([
    { day: '2026-01-31', rows: 24n, same: true },
    { day: '2026-02-01', rows: 5n, same: true },
    { day: null, rows: 1n, same: true },
  ]);
  expect((await current(fixture.lake, 'compression_signatures')).schema.at(-1)).toEqual({
    name: 'block_time_day',
    type: 'DATE',
  });
});

test('odd values make partitions; one that no folder can be named by is refused, with the column', async () => {
  const fixture = await createFixture();
  await fixture.change(
    insertTokenAccounts(0, 6),
    "update token_accounts set mint = case address when 'address-1' then '../../x' when 'address-2' then 'a/b=*?[c]' when 'address-3' then null else mint end",
  );
  const options = { tables: ['token_accounts'], partitionBy: { token_accounts: ['mint'] } };
  const [set] = await fixture.export(options);
  const { files } = await current(fixture.lake, 'token_accounts');
  expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(6);
  expect(files.every(({ path }) => path.split('/').length === 5)).toBe(true);
  expect((await readdir(fixture.root)).sort()).toEqual(['lake', 'lake.id', 'warehouse.duckdb']);
  expect(set!.rows).toBe(6);
  for (const odd of ['x'.repeat(300), 'ü'.repeat(60), '__HIVE_DEFAULT_PARTITION__', '']) {
    await fixture.change(`update token_accounts set mint = '${odd}' where address = 'address-5'`);
    await expect(fixture.export(options)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('no folder can be named by the value'),
    });
  }
  expect(await shown(fixture.lake, 'token_accounts')).toBe(set!.exportId);
});

test('a copied lake and one of a former version are taken over; what no export made is refused before the run', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 10), insertAssets);
  const options = { tables: ['token_accounts', 'assets'] };
  await fixture.export(options);
  const { export_id: id } = await current(fixture.lake, 'token_accounts');
  const copy = { ...options, lake: join(fixture.root, 'copied') };
  // Tools that follow links copy the set to where the link is.
  await cp(fixture.lake, copy.lake, { recursive: true, dereference: true });
  expect((await fixture.export(copy)).map(({ written }) => written)).toEqual([false, false]);
  expect(await shown(copy.lake, 'token_accounts')).toBe(id);
  expect(await listTree(copy.lake)).toEqual(await listTree(fixture.lake));

  const old = join(copy.lake, 'assets');
  await rm(old);
  await mkdir(join(old, id), { recursive: true });
  await writeFile(join(old, id, `${id}-0.parquet`), 'rows');
  await writeFile(join(old, id, '_manifest.json'), '{}');
  await symlink(id, join(old, 'current'));
  await fixture.export(copy);
  expect(await shown(copy.lake, 'assets')).toBe((await current(copy.lake, 'assets')).export_id);

  await rm(old);
  await mkdir(old);
  await writeFile(join(old, 'notes.txt'), 'not ours');
  const refusal = { exitCode: 2, message: expect.stringContaining(old) };
  await expect(fixture.export(copy)).rejects.toMatchObject(refusal);
  await expect(fixture.check(copy)).rejects.toMatchObject(refusal);
});

test('a lake belongs to one data folder: another is refused, and replaces nothing', async () => {
  const fixture = await createFixture();
  const other = await createFixture();
  await fixture.change(insertTokenAccounts(0, 120));
  await other.change(insertTokenAccounts(0, 15));
  const options = { tables: ['token_accounts'], lake: join(fixture.root, 'shared') };
  await fixture.export(options);
  const refusal = { exitCode: 2, message: `lake.uri: ${options.lake} belongs to another data folder` };
  await expect(other.check(options)).rejects.toMatchObject(refusal);
  await expect(other.export(options)).rejects.toMatchObject(refusal);
  expect(await current(options.lake, 'token_accounts')).toMatchObject({ rows: 120 });
  // The remedy that the hint names, for a data folder that is lost.
  await rm(join(options.lake, '_lake.json'));
  expect(await other.export(options)).toMatchObject([{ rows: 15 }]);
  await expect(fixture.export(options)).rejects.toMatchObject(refusal);
});

test('an invalid name is refused with the valid ones', async () => {
  const fixture = await createFixture();
  const refused = (options: Parameters<typeof fixture.export>[0]) =>
    fixture.export(options).then(
      () => null,
      ({ exitCode, message, hint }) => ({ exitCode, message, hint }),
    );
  expect(await refused({ tables: ['assets', 'owners_of_assets'] })).toEqual({
    exitCode: 2,
    message: 'lake.tables: there is no table "owners_of_assets"',
    hint: `The tables are ${tableNames.join(', ')}.`,
  });
  expect(await refused({ partitionBy: { runs: ['x'] } })).toMatchObject({
    message: 'lake.partition_by: there is no table "runs"',
  });
  expect(await refused({ partitionBy: { compression_signatures: ['mint'] } })).toMatchObject({
    message: 'lake.partition_by: compression_signatures has no column "mint"',
  });
  expect(await refused({ partitionBy: { token_accounts: ['amount'] } })).toMatchObject({
    message: 'lake.partition_by: token_accounts cannot be split by amount, a column of type UBIGINT',
  });
  expect(await refused({ partitionBy: { token_accounts: ['day(mint)'] } })).toMatchObject({ exitCode: 2 });
  expect(await refused({ lake: 'gs://bucket/lake' })).toMatchObject({ exitCode: 2 });
  expect(await refused({ snapshot: join(fixture.root, 'none.duckdb') })).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('there is no snapshot'),
    hint: expect.stringContaining('ledgerlake run'),
  });
});

test('a reader that polls sees only whole sets, by the manifest and by the table’s path', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 2000));
  await fixture.export({ tables: ['token_accounts'] });
  const lake = fixture.lake;
  let done = false;
  const seen = new Set<string>();
  const poll = async () => {
    while (!done) {
      const manifest = await current(lake, 'token_accounts');
      for (const { path, bytes, sha256 } of manifest.files) {
        const content = await readFile(join(lake, path));
        expect(content.length).toBe(bytes);
        expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      }
      expect(manifest.files.reduce((sum, { rows }) => sum + rows, 0)).toBe(manifest.rows);
      expect(await readdir(join(lake, 'token_accounts'))).toHaveLength(1);
      seen.add(manifest.export_id);
    }
  };
  const polling = poll();
  for (let n = 0; n < 10; n += 1) {
    await fixture.change(`update token_accounts set delegated_amount = ${n}`);
    await fixture.export({ tables: ['token_accounts'] });
  }
  done = true;
  await polling;
  expect(seen.size).toBeGreaterThan(3);
});
