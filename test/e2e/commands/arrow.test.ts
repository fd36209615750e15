import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Table, tableFromIPC } from 'apache-arrow';
import { beforeAll, expect, test } from 'vitest';
import { createDataFolder, type TestFolder } from '../../support/data-folder-fixture.ts';
import { skipWithout } from '../../support/needs.ts';
import { runProgram } from '../../support/program.ts';

let folder: TestFolder;

beforeAll(async () => {
  folder = await createDataFolder();
  return () => folder.remove();
});

/** Runs a query into a file, and reads that. */
async function read(query: string, name = 'out.arrow'): Promise<Table> {
  const file = join(folder.root, name);
  const ended = await runProgram(['sql', query, '-o', file], { cwd: folder.root });
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  return tableFromIPC(await readFile(file));
}

/** Every kind of column, once with a value at its edge and once NULL. */
const odd = `
  select
    18446744073709551615::ubigint as u64,
    (-9223372036854775808)::bigint as i64,
    (-99999999999999999999999999999999999999)::hugeint as huge,
    -123456789012345678901234567890.12::decimal(38, 2) as money,
    255::utinyint as u8, -1::tinyint as i8, -2::smallint as i16, 65535::usmallint as u16, -3::integer as i32,
    4294967295::uinteger as u32,
    0.5::float as f32, 'nan'::double as f64,
    true as yes,
    'say "hi", ☃' as text, '' as empty, '\\xAA\\x00'::blob as bytes,
    '{"x": 1.0}'::json as doc, '00000000-0000-0000-0000-0000000000ff'::uuid as id,
    timestamptz '2026-01-01 00:00:00.123456+00' as at, timestamp '1969-12-31 23:59:59.5' as early,
    timestamp_s '2026-01-01 00:00:01' as seconds, timestamp_ns '2026-01-01 00:00:00.000000001' as nanos,
    date '1969-12-31' as day, time '23:59:59.999999' as clock, interval 3 days as gap,
    ['a', null, 'c'] as list, [[1], null, []] as nested, [1, 2]::integer[2] as pair,
    {'share': 18446744073709551615::ubigint, 'verified': null::boolean} as struct,
    [{'k': 'a', 'v': 1}, null] as structs,
    map {'k': 1.50::decimal(3, 2)} as pairs,
    null as none`;

test('every type comes back as it was, from another reader than the writer', async () => {
  const table = await read(
    `${odd} union all by name select * from (${odd}) where false union all by name select null as none`,
  );
  const types = Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]));
  expect(types).toMatchObject({
    ...{ u64: 'Uint64', i64: 'Int64', huge: 'Decimal[38e0]', money: 'Decimal[38e+2]', u8: 'Uint8' },
    ...{ at: 'Timestamp<MICROSECOND, UTC>', early: 'Timestamp<MICROSECOND>', day: 'Date32<DAY>' },
    ...{ list: 'List<Utf8>', pair: 'FixedSizeList[2]<Int32>', text: 'Utf8', id: 'Utf8', gap: 'Utf8' },
  });
  const column = (name: string) => table.getChild(name)!;
  const value = (name: string) => column(name).get(0);
  expect(value('u64')).toBe(18446744073709551615n);
  expect(value('i64')).toBe(-9223372036854775808n);
  expect(decimal(value('huge'))).toBe(-99999999999999999999999999999999999999n);
  expect(decimal(value('money'))).toBe(-12345678901234567890123456789012n);
  for (const [name, expected] of Object.entries({
    ...{ u8: 255, i8: -1, i16: -2, u16: 65535, i32: -3, u32: 4294967295, f32: 0.5, f64: Number.NaN },
    ...{ yes: true, text: 'say "hi", ☃', empty: '', doc: '{"x": 1.0}', gap: '3 days' },
    id: '00000000-0000-0000-0000-0000000000ff',
  }))
    expect(value(name), name).toEqual(expected);
  expect([...value('bytes')]).toEqual([0xaa, 0]);
  const raw = (name: string) => column(name).data[0]!.values[0];
  expect(raw('at')).toBe(1767225600123456n);
  expect(raw('early')).toBe(-500000n);
  expect(raw('seconds')).toBe(1767225601n);
  expect(raw('nanos')).toBe(1767225600000000001n);
  expect(raw('clock')).toBe(86399999999n);
  expect(raw('day')).toBe(-1);
  expect(value('list').toJSON()).toEqual(['a', null, 'c']);
  expect(
    value('nested')
      .toJSON()
      .map((one: { toJSON(): unknown } | null) => one?.toJSON() ?? null),
  ).toEqual([[1], null, []]);
  expect(value('pair').toJSON()).toEqual([1, 2]);
  expect(value('struct').toJSON()).toEqual({ share: 18446744073709551615n, verified: null });
  expect(
    value('structs')
      .toJSON()
      .map((one: { toJSON(): unknown } | null) => one?.toJSON() ?? null),
  ).toEqual([{ k: 'a', v: 1 }, null]);
  expect([...value('pairs')].map(([key, amount]) => [key, decimal(amount)])).toEqual([['k', 150n]]);
  for (const { name } of table.schema.fields) expect(column(name).get(1), name).toBeNull();
});

/** A decimal's digits without the point: apache-arrow gives its four words. */
function decimal(words: Uint32Array): bigint {
  const unsigned = [...words].reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  return BigInt.asIntN(128, unsigned);
}

test('rows come in batches, of which a few are in memory; none are a stream with a schema', async () => {
  const table = await read('select n::ubigint as n, repeat(chr(97), 100) as text from range(100000) t(n)');
  expect(table.numRows).toBe(100_000);
  expect(table.batches.length).toBeGreaterThan(40);
  expect(table.getChild('n')!.get(99_999)).toBe(99999n);
  const none = await read('select 1::ubigint as n where false');
  expect([none.numRows, none.schema.fields.map(({ name }) => name)]).toEqual([0, ['n']]);
});

test('a HUGEINT of 39 digits is refused, and an error leaves no file', async () => {
  const file = join(folder.root, 'never.arrow');
  const query = 'select 170141183460469231731687303715884105727::hugeint as n';
  const ended = await runProgram(['sql', query, '--format', 'arrow', '-o', file], { cwd: folder.root });
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('more digits than a decimal') });
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});

const python = process.env.TEST_PYTHON ?? 'python3';
const hasPyarrow = (() => {
  try {
    execFileSync(python, ['-c', 'import pyarrow'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

test('pyarrow reads the same', async (context) => {
  skipWithout(context, 'pyarrow', hasPyarrow);
  await read(odd, 'py.arrow');
  const script = `import pyarrow as pa, sys
table = pa.ipc.open_stream(open(sys.argv[1], 'rb')).read_all()
table.validate(full=True)
names = ['u64', 'huge', 'money', 'at', 'struct', 'nested', 'pairs', 'day']
row = table.select(names).to_pylist()[0]
print(row['u64'], row['huge'], row['money'], row['at'].isoformat(), row['struct'], row['nested'], row['pairs'], row['day'])
print(table.schema.field('u64').type, table.schema.field('at').type, table.schema.field('huge').type)`;
  const { stdout } = await promisify(execFile)(python, ['-c', script, join(folder.root, 'py.arrow')]);
  expect(stdout.split('\n')).toEqual([
    "18446744073709551615 -99999999999999999999999999999999999999 -123456789012345678901234567890.12 2026-01-01T00:00:00.123456+00:00 {'share': 18446744073709551615, 'verified': None} [[1], None, []] [('k', Decimal('1.50'))] 1969-12-31",
    'uint64 timestamp[us, tz=UTC] decimal128(38, 0)',
    '',
  ]);
});
