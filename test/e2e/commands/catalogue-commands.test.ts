import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { commandList } from '../../../src/commands/command-list.ts';
import { fullCommandHelp, programHelp } from '../../../src/commands/help.ts';
import { formatEntries } from '../../../src/commands/text-table.ts';
import { listOperations } from '../../../src/operations/catalogue.ts';
import { type TableDescription, withEmptyTables } from '../../../src/warehouse/model.ts';
import { runProgram } from '../../support/program.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ledgerlake-cli-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
});

const cli = (...args: string[]) => runProgram(args, { cwd: root });

test('methods lists every operation with the fields scripts rely on', async () => {
  const { code, stdout } = await cli('methods', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(
    listOperations().map(({ name, transport, paging, limit, pool, credits, table }) => {
      return { name, transport, paging, limit, pool, credits, table };
    }),
  );
  const text = (await cli('methods')).stdout;
  for (const { name, describe } of listOperations()) {
    expect(text).toContain(name);
    expect(text).toContain(describe);
  }
});

test('tables describes every column of every table, and makes no file', async () => {
  const { code, stdout } = await cli('tables', '--json');
  expect(code).toBe(0);
  const tables = JSON.parse(stdout) as TableDescription[];
  const names = tables.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['assets', 'asset_creators', 'meta.checkpoints']));
  expect(tables.find(({ name }) => name === 'assets')).toMatchObject({ kind: 'table', key: ['id'] });
  const silent = tables.flatMap(({ name, kind, describe, columns }) => [
    ...(describe === '' && name !== 'meta.schema_version' ? [name] : []),
    ...columns
      .filter((column) => kind === 'table' && column.describe === '')
      .map((column) => `${name}.${column.name}`),
  ]);
  expect(silent.filter((name) => name !== 'meta.schema_version.version')).toEqual([]);
  expect(await readdir(root)).toEqual([]);
});

test('tables <table> shows one, and suggests one for a name that is none', async () => {
  const { stdout } = await cli('tables', 'token_accounts');
  expect(stdout).toMatch(/^token_accounts: Token accounts, as last seen\.\nKey: address\n/);
  expect(stdout).toMatch(/amount +UBIGINT +Balance in the smallest unit/);
  expect(await cli('tables', 'asets')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('did you mean "assets"?'),
  });
});

test('tables --sql shows all SQL that is made for a table, which DuckDB reads', async () => {
  const { code, stdout } = await cli('tables', 'assets', '--sql', '--json');
  expect(code).toBe(0);
  const parts = JSON.parse(stdout).sql as { part: string; sql: string }[];
  expect(parts.map(({ part }) => part)).toEqual(
    expect.arrayContaining([
      'table',
      'history',
      'texts',
      'mapping of asset',
      'publish: verdict',
      'publish: insertNew',
    ]),
  );
  await withEmptyTables(async (database) => {
    for (const { part, sql } of parts)
      await database.describeSelect(sql).catch((error: Error) => {
        // Temporary tables of the steps before are not there.
        if (!/^(Catalog|Binder) Error/.test(error.message)) throw new Error(`${part}: ${error.message}`);
      });
  });
  const text = (await cli('tables', 'wallet_transfers', '--sql')).stdout;
  expect(text).toContain('-- wallet_transfers: mapping of wallet_transfer');
  expect(await cli('tables', 'meta.runs', '--sql')).toMatchObject({ code: 2 });
});

test('on a terminal, tables and methods keep to its width', () => {
  const entries = [
    { head: 'creators STRUCT(address VARCHAR, share INTEGER, verified BOOLEAN)[]', text: 'word '.repeat(40) },
    { head: 'x'.repeat(100), text: '' },
  ];
  for (const width of [40, 80])
    for (const line of formatEntries(entries, width).split('\n'))
      expect(line.length).toBeLessThanOrEqual(width);
});

const goodJob = `describe: Signatures
method: getLatestCompressionSignatures
`;

test('jobs check prints every job, or every problem with its line', async () => {
  await mkdir(join(root, 'jobs'));
  await writeFile(join(root, 'jobs', 'signatures.yaml'), goodJob);
  const good = await cli('jobs', 'check');
  expect(good.code).toBe(0);
  expect(good.stdout).toMatch(
    /signatures +getLatestCompressionSignatures +full +one +Signatures\n\n1 job, no problems/,
  );
  expect(JSON.parse((await cli('jobs', 'check', '--json')).stdout)).toMatchObject([
    { name: 'signatures', operation: 'getLatestCompressionSignatures', targets: null },
  ]);
  await writeFile(join(root, 'jobs', 'one.yaml'), 'describe: x\nmethod: getAssetByGroup\n');
  await writeFile(join(root, 'jobs', 'two.yaml'), `${goodJob}nonsense: true\n`);
  const bad = await cli('jobs', 'check');
  expect(bad).toMatchObject({ code: 2, stdout: '' });
  expect(bad.stderr).toContain('jobs/one.yaml:2');
  expect(bad.stderr).toContain('jobs/two.yaml:3');
  expect((await cli('jobs', 'chek')).code).toBe(2);
});

test.each(commandList.map(({ name }) => name.split(' ')[0]!))('%s --help has examples', async (name) => {
  const { code, stdout } = await cli(name, '--help');
  expect(code).toBe(0);
  expect(stdout).toContain(`Examples:\n  ledgerlake ${name}`);
});

test.each([80, 40])('help keeps to %i columns, but for examples, which are copied whole', async (width) => {
  const wide: string[] = programHelp(commandList, width).split('\n');
  for (const entry of commandList) {
    const { usage } = await entry.load();
    const examples = Object.keys(usage.examples).map((line) => `  ${line}`);
    const lines = fullCommandHelp(entry, usage, width).split('\n');
    expect(examples.filter((line) => !lines.includes(line))).toEqual([]);
    wide.push(...lines.filter((line) => !examples.includes(line) && !line.startsWith('Usage: ')));
  }
  expect(wide.filter((line) => line.length > width)).toEqual([]);
});
