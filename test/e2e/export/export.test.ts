import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkExport } from '../../../src/export/export.ts';
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
  readJson<Manifest>(join(lake, table, 'current', '_manifest.json'));

test('the files hold exactly the rows of every base table and history, u64 as decimals and JSON as text', async () => {
  const fixture = await createFixture();
  const { lake } = fixture;
  await fixture.change(insertAssets, insertTokenAccounts(0, 5000));
  const results = await fixture.export();
  const filled: Record<string, number> = { assets: 4, token_accounts: 5000 };
  expect(results.map(({ table, rows, written }) => [table, rows, written])).toEqual(
    tableNames.map((table) => [table, filled[table.replace('_history', '')] ?? 0, true]),
  );
  for (const { table, rows } of results) {
    const files = `read_parquet('${lake}/${table}/current/*.parquet')`;
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
    `describe from read_parquet('${lake}/assets/current/*.parquet')`,
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
  const bytes = await readFile(join(assets!.path, file!.path));
  expect(manifest).toMatchObject({
    table: 'assets',
    export_id: assets!.exportId,
    rows: 4,
    files: [
      {
        path: `${assets!.exportId}-0.parquet`,
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
  expect(await modeOf(join(fixture.lake, 'assets'))).toBe('750');
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
  expect(await readlink(join(fixture.lake, 'assets', 'current'))).toBe(repaired!.exportId);
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
  const table = join(lake, 'token_accounts');
  expect((await readdir(table)).sort()).toEqual([...ids.slice(1), 'current'].sort());

  // Killed while writing, after the rename of the set, and before the rename of the link.
  await mkdir(join(lake, '.export-assets-20260101T000000000Z', 'deep'), { recursive: true });
  await mkdir(join(table, '29990101T000000000Z'));
  await symlink('29990101T000000000Z', join(table, '.current-29990101T000000000Z'));
  await writeFile(join(table, 'notes.txt'), 'not ours');
  await fixture.export({ tables: ['token_accounts'], keep: 1 });
  expect((await readdir(table)).sort()).toEqual([ids[3]!, 'current', 'notes.txt'].sort());
  expect(await readdir(lake)).toEqual(['token_accounts']);
});

test('a clock set back does not make a new set older than the current one', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 10));
  const table = join(fixture.lake, 'token_accounts');
  await mkdir(join(table, '29990101T000000000Z'), { recursive: true });
  await symlink('29990101T000000000Z', join(table, 'current'));
  const [set] = await fixture.export({ tables: ['token_accounts'] });
  expect(set!.exportId).toBe('29990101T000000001Z');
});

test('files split by a column, by size, and of an empty table, all add up', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 300_000));
  const split = { partitionBy: { token_accounts: ['mint', 'frozen'], compression_signatures: ['tx_slot'] } };
  const sets = await fixture.export({ ...split, tables: ['token_accounts', 'compression_signatures'] });
  expect(sets.map(({ rows, files }) => [rows, files])).toEqual([
    [300_000, 3],
    [0, 1],
  ]);
  const partitioned = await current(fixture.lake, 'token_accounts');
  expect(partitioned.files.map(({ path, rows }) => [path, rows])).toEqual(
    [0, 1, 2].map((n) => [
      `mint=mint-${n}/frozen=__HIVE_DEFAULT_PARTITION__/${partitioned.export_id}-0.parquet`,
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
  const pattern = `${fixture.lake}/assets/${id}/*/*.parquet`;
  const rows = `select id, description, attributes, slot from`;
  const differences = await fixture.query(`
    (${rows} assets except all ${rows} read_parquet('${pattern}'))
    union all
    select id, filename, null, slot from read_parquet('${pattern}', filename = true, hive_partitioning = false)
    where not contains(filename, '/collection=' || coalesce(collection, '__HIVE_DEFAULT_PARTITION__') || '/')`);
  expect(differences).toEqual([]);
  expect(await readdir(join(fixture.root, 'temp'))).toEqual([]);
});

test('values no file name can hold still make partitions', async () => {
  const fixture = await createFixture();
  await fixture.change(
    insertTokenAccounts(0, 6),
    "update token_accounts set mint = case address when 'address-1' then '../../x' when 'address-2' then 'a/b=*?[c]' when 'address-3' then '' else mint end",
  );
  const [set] = await fixture.export({
    tables: ['token_accounts'],
    partitionBy: { token_accounts: ['mint'] },
  });
  const { files } = await current(fixture.lake, 'token_accounts');
  expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(6);
  expect(files.every(({ path }) => path.split('/').length === 2)).toBe(true);
  expect((await readdir(fixture.root)).sort()).toEqual(['lake', 'warehouse.duckdb']);
  expect(set!.rows).toBe(6);
});

test('values that are too long for a file name, or the name of NULL, make partitions named by their hash', async () => {
  const fixture = await createFixture();
  const odd = ['x'.repeat(300), 'ü'.repeat(60), '__HIVE_DEFAULT_PARTITION__'];
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  await fixture.change(
    insertTokenAccounts(0, 100),
    "update token_accounts set mint = 'mint-' || (amount % 20), owner = null",
    ...odd.map((text, n) => `update token_accounts set mint = '${text}' where address = 'address-${n}'`),
    "update token_accounts set mint = null where address = 'address-3'",
    `update token_accounts set owner = '${odd[0]}' where address in ('address-0', 'address-4')`,
  );
  for (const partitionBy of [['mint'], ['owner'], ['owner', 'mint']]) {
    await fixture.export({ tables: ['token_accounts'], partitionBy: { token_accounts: partitionBy } });
    const { files, export_id: id } = await current(fixture.lake, 'token_accounts');
    const list = files.map(({ path }) => `'${fixture.lake}/token_accounts/${id}/${path}'`).join(', ');
    const read = `read_parquet([${list}], hive_partitioning = false)`;
    expect(
      await fixture.query(`
        (from token_accounts except all (select * from ${read}))
        union all
        (select * from ${read} except all from token_accounts)`),
    ).toEqual([]);
    expect(files.reduce((sum, { rows }) => sum + rows, 0)).toBe(100);
    const folders = files.map(({ path }) => path.split('/').slice(0, -1).join('/'));
    expect(new Set(folders).size).toBe(folders.length);
    const expected: Record<string, string[]> = {
      mint: [...odd.map((text) => `mint=sha256-${sha256(text)}`), 'mint=__HIVE_DEFAULT_PARTITION__'],
      owner: [`owner=sha256-${sha256(odd[0]!)}`, 'owner=__HIVE_DEFAULT_PARTITION__'],
      'owner,mint': [`owner=sha256-${sha256(odd[0]!)}/mint=sha256-${sha256(odd[0]!)}`],
    };
    expect(folders).toEqual(expect.arrayContaining(expected[`${partitionBy}`]!));
  }
});

test('a lake in which `current` is a copied folder is taken over; a foreign one is refused before the run', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 10));
  const options = { tables: ['token_accounts', 'assets'] };
  await fixture.export(options);
  const { export_id: id } = await current(fixture.lake, 'token_accounts');
  const copy = { ...options, lake: join(fixture.root, 'copied') };
  await cp(fixture.lake, copy.lake, { recursive: true, dereference: true });
  // A copy of `current` alone.
  await rm(join(copy.lake, 'assets', id), { recursive: true, force: true });
  expect((await fixture.export(copy)).map(({ written }) => written)).toEqual([false, false]);
  expect(await readlink(join(copy.lake, 'token_accounts', 'current'))).toBe(id);
  expect(await listTree(copy.lake)).toEqual(await listTree(fixture.lake));

  const foreign = join(copy.lake, 'assets', 'current');
  await rm(foreign);
  await mkdir(foreign);
  const refusal = { exitCode: 2, message: expect.stringContaining(foreign) };
  await expect(fixture.export(copy)).rejects.toMatchObject(refusal);
  const places = { tables: 'lake.tables', partitionBy: 'lake.partition_by' };
  await expect(checkExport({ ...copy, partitionBy: {}, places })).rejects.toMatchObject(refusal);
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
  expect(await refused({ lake: 's3://bucket/lake' })).toMatchObject({ exitCode: 2 });
  expect(await refused({ snapshot: join(fixture.root, 'none.duckdb') })).toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('there is no snapshot'),
    hint: expect.stringContaining('ledgerlake run'),
  });
});

test('a reader that polls current sees only whole sets', async () => {
  const fixture = await createFixture();
  await fixture.change(insertTokenAccounts(0, 2000));
  await fixture.export({ tables: ['token_accounts'] });
  let done = false;
  const seen = new Set<string>();
  const poll = async () => {
    while (!done) {
      const id = await readlink(join(fixture.lake, 'token_accounts', 'current'));
      const dir = join(fixture.lake, 'token_accounts', id);
      const manifest = await readJson<Manifest>(join(dir, '_manifest.json'));
      for (const { path, bytes, sha256 } of manifest.files) {
        const content = await readFile(join(dir, path));
        expect(content.length).toBe(bytes);
        expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
      }
      expect(manifest.files.reduce((sum, { rows }) => sum + rows, 0)).toBe(manifest.rows);
      seen.add(id);
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
