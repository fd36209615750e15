import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDataFolder, type TestFolder } from '../../support/data-folder-fixture.ts';
import { runProgram, startProgram } from '../../support/program.ts';

let folder: TestFolder;

beforeAll(async () => {
  folder = await createDataFolder();
  return () => folder.remove();
});

const sql = (...args: string[]) => runProgram(['sql', ...args], { cwd: folder.root });

const oddRow = `select
  18446744073709551615::ubigint as u64,
  (-170141183460469231731687303715884105727)::hugeint as huge,
  123456789012345678901234567890.12::decimal(38, 2) as money,
  9007199254740993::bigint as big,
  'nan'::double as nan,
  'say "hi", ☃' || chr(10) as text,
  '' as empty,
  null as none,
  {'a': [1, null], 'b': 18446744073709551615::ubigint} as nested,
  map {'k': 1.50::decimal(3, 2)} as pairs,
  '{"x": 1.0,\n"y": 18446744073709551615}'::json as doc,
  timestamptz '2026-01-01 00:00:00.123456+00' as at,
  timestamptz '1969-12-31 23:59:59+00' as early,
  date '2026-02-03' as day,
  true as yes`;

test('json and ndjson are exact', async () => {
  const row =
    '{"u64":18446744073709551615,"huge":-170141183460469231731687303715884105727,"money":123456789012345678901234567890.12,' +
    '"big":9007199254740993,"nan":"NaN","text":"say \\"hi\\", ☃\\n","empty":"","none":null,' +
    '"nested":{"a":[1,null],"b":18446744073709551615},"pairs":{"k":1.50},"doc":{"x": 1.0, "y": 18446744073709551615},' +
    '"at":"2026-01-01T00:00:00.123456Z","early":"1969-12-31T23:59:59Z","day":"2026-02-03","yes":true}';
  expect(await sql('--format', 'ndjson', oddRow)).toMatchObject({ code: 0, stdout: `${row}\n`, stderr: '' });
  expect((await sql('--json', oddRow)).stdout).toBe(`[\n${row}\n]\n`);
  expect((await sql('--format', 'json', 'select 1 where false')).stdout).toBe('[]\n');
});

test('csv is exact, and tells NULL from empty', async () => {
  const { stdout } = await sql(oddRow);
  expect(stdout).toBe(
    'u64,huge,money,big,nan,text,empty,none,nested,pairs,doc,at,early,day,yes\n' +
      '18446744073709551615,-170141183460469231731687303715884105727,123456789012345678901234567890.12,9007199254740993,' +
      'NaN,"say ""hi"", ☃\n","",,"{""a"":[1,null],""b"":18446744073709551615}","{""k"":1.50}",' +
      '"{""x"": 1.0,\n""y"": 18446744073709551615}",2026-01-01T00:00:00.123456Z,1969-12-31T23:59:59Z,2026-02-03,true\n',
  );
});

test('a table aligns, and shows control characters instead of obeying them', async () => {
  const { stdout } = await sql(
    '--format',
    'table',
    `select '猫' as x, chr(27) || '[31m' as y, 5 as n, null as z`,
  );
  expect(stdout).toBe('x   y      n     z\n──  ─────  ─  ────\n猫  ␛[31m  5  NULL\n');
});

test('a query comes from a file or stdin, and only the last of its results is shown', async () => {
  await writeFile(
    join(folder.root, 'report.sql'),
    'create temp table t as select max(amount) m from token_accounts; select 1; from t; -- end',
  );
  expect((await sql('-f', 'report.sql')).stdout).toBe('m\n18446744073709551615\n');
  const piped = await runProgram(['sql'], {
    cwd: folder.root,
    input: 'select count(*) as n from token_accounts',
  });
  expect(piped.stdout).toBe('n\n100\n');
});

test('a Parquet file has the lake’s types', async () => {
  const query = 'select amount, amount::hugeint * 2 as twice, burnt from token_accounts; -- comment';
  expect(await sql('--format', 'parquet', '-o', 'out.parquet', query)).toMatchObject({ code: 0, stdout: '' });
  const [types, rows] = await folder.readParquet(join(folder.root, 'out.parquet'));
  expect(types).toEqual([
    ['amount', 'DECIMAL(20,0)'],
    ['twice', 'DECIMAL(38,0)'],
    ['burnt', 'VARCHAR'],
  ]);
  expect(rows).toBe(100n);
  expect((await readdir(folder.root)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  const refused = await sql('--format', 'parquet', '-o', 'other.parquet', 'selec 1');
  expect(refused.code).toBe(2);
  expect(await readdir(folder.root)).not.toContain('other.parquet');
});

test.each([
  ['select * from nope', 'Table with name nope does not exist', '`ledgerlake tables`'],
  ['select nope from assets', '"nope" not found', '`ledgerlake tables <table>`'],
  ['selec 1', 'ledgerlake: Parser Error: syntax error at or near "selec"', 'duckdb.org'],
  ["delete from assets where id = ''", 'read-only', 'Queries only read'],
  ["select * from read_csv('/etc/passwd')", 'disabled by configuration', 'Queries see the snapshot only'],
  ["copy assets to '/tmp/stolen.csv'", 'disabled by configuration', 'Queries see the snapshot only'],
  ["attach '/tmp/other.duckdb'", 'disabled by configuration', 'Queries see the snapshot only'],
  ["set memory_limit = '1TB'", 'locked', 'Queries see the snapshot only'],
  ["select 'x'::integer", 'Could not convert', 'try_cast'],
  [' ; -- nothing', 'the query is empty', 'Try:'],
])('%s is refused with what to do', async (query, message, hint) => {
  const { code, stdout, stderr } = await sql(query);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
  expect(stderr).not.toContain('    at ');
});

test('--output leaves links and devices what they are', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerlake-output-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [link, target, device] = ['link.csv', 'target.csv', 'device'].map((name) => join(folder, name));
  await writeFile(target!, 'former');
  await symlink(target!, link!);
  await symlink('/dev/null', device!);
  for (const output of [link!, device!])
    expect(await sql('-o', output, 'select 1 as n')).toMatchObject({ code: 0, stderr: '' });
  expect(await readFile(target!, 'utf8')).toBe('n\n1\n');
  for (const name of [link!, device!]) expect((await lstat(name)).isSymbolicLink(), name).toBe(true);
  expect((await stat('/dev/null')).isCharacterDevice()).toBe(true);
  expect((await readdir(folder)).sort()).toEqual(['device', 'link.csv', 'target.csv']);
  expect(await sql('--format', 'parquet', '-o', device!, 'select 1')).toMatchObject({ code: 2 });
  expect(await sql('-o', folder, 'select 1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('is a folder'),
  });
});

test('the name of --output says the format where --format does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerlake-output-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const written = async (name: string, ...more: string[]) => {
    expect(await sql('-o', join(folder, name), ...more, 'select 1 as n')).toMatchObject({
      code: 0,
      stderr: '',
    });
    return readFile(join(folder, name), 'utf8');
  };
  expect((await written('rows.parquet')).slice(0, 4)).toBe('PAR1');
  expect(await written('rows.NDJSON')).toBe('{"n":1}\n');
  expect(await written('rows.txt')).toBe('n\n1\n');
  expect(await written('other.parquet', '--format', 'csv')).toBe('n\n1\n');
});

test('invalid arguments are refused', async () => {
  expect((await sql('--data-dir', 'none', 'select 1')).stderr).toContain(
    'Make one with `ledgerlake run --data-dir none` first',
  );
  expect((await sql('--format', 'parquet', 'select 1')).stderr).toContain('--output');
  for (const format of ['csv', 'parquet']) {
    const { code, stderr } = await sql('--format', format, '-o', 'nope/rows', 'select 1');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/there is no folder .*nope/) });
  }
  expect((await sql('-f', 'none.sql')).stderr).toContain('cannot read none.sql (ENOENT)');
  expect((await sql('-f', 'none.sql', 'select 1')).stderr).toContain('Give one of them');
});

const long = 'select i, repeat(md5(i::varchar), 8) as text from range(2000000) r(i)';

test('whoever reads only the beginning of a long result gets it, without an error', async () => {
  const cli = startProgram(['sql', '--format', 'ndjson', long], { cwd: folder.root });
  await cli.stdoutWith('\n');
  cli.child.stdout!.destroy();
  expect(await cli.ended).toMatchObject({ code: 0, stderr: '' });
});

test('Ctrl-C ends a query at work, and one that is being written; neither looks complete', async () => {
  for (const format of ['csv', 'json']) {
    const cli = startProgram(['sql', '--format', format, long], { cwd: folder.root });
    await cli.stdoutWith('\n');
    cli.child.kill('SIGINT');
    const { code, stderr } = await cli.ended;
    expect({ code, stderr }).toEqual({ code: 75, stderr: expect.stringContaining('stopped by SIGINT') });
  }
});

test('an error in the last of many rows is an error, not the end of the result', async () => {
  const query = "select (case when i = 1900000 then 'x' else '1' end)::integer as n from range(2000000) r(i)";
  const { code, stdout, stderr } = await sql(query);
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Could not convert string'),
  });
});

test('names that come twice, names that are none and statements that are no SELECT', async () => {
  expect((await sql('select 1 as a, 2 as a, 1 + 1')).stdout.split('\n')[1]).toBe('1,2,2');
  expect((await sql('--format', 'ndjson', 'select 1 as a, 2 as a')).stdout).toMatch(/^\{"a":1,"a.1":2\}\n$/);
  expect((await sql('show tables')).stdout).toContain('token_accounts\n');
  expect((await sql('describe token_accounts')).stdout).toContain('amount,UBIGINT');
  expect((await sql('from token_accounts order by amount limit 1; -- end')).code).toBe(0);
});

test("in a folder's first run there is nothing to publish yet: sql says to wait", async () => {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-first-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const data = join(root, 'data');
  await mkdir(join(data, 'staging', '1'), { recursive: true });
  const run = '20260101T000000000Z-000000';
  const line = { run, verb: 'run', jobs: ['a'], started_at: '2026-01-01T00:00:00.000Z' };
  await writeFile(join(data, 'runs.ndjson'), `${JSON.stringify(line)}\n`);
  const ask = () => runProgram(['sql', 'select 1'], { cwd: root });
  await writeFile(join(data, 'run.json'), JSON.stringify({ run, pid: process.pid }));
  expect(await ask()).toMatchObject({
    code: 2,
    stdout: '',
    stderr:
      `ledgerlake: there is no snapshot at ${join(data, 'warehouse.duckdb')} yet: run ${run} is at work\n` +
      '  It is there when that run ends; `ledgerlake status` shows how far it is.\n',
  });
  // Killed, it left what a publish can use.
  await rm(join(data, 'run.json'));
  expect((await ask()).stderr).toContain('`ledgerlake publish` restores it');
});
