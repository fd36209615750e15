import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { ExportResult } from '../../../src/export/export-options.ts';
import { takeRunLock } from '../../../src/warehouse/run-lock.ts';
import { createDataFolder, type TestFolder } from '../../support/data-folder-fixture.ts';
import { runProgram, startProgram } from '../../support/program.ts';

let folder: TestFolder;

beforeEach(async () => {
  folder = await createDataFolder();
  onTestFinished(() => folder.remove());
});

const exportCli = (...args: string[]) => runProgram(['export', ...args], { cwd: folder.root });

test('export writes what changed and says where', async () => {
  const { code, stdout, stderr } = await exportCli('assets', 'token_accounts');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^table +rows +size +files +path$/);
  expect(lines[2]).toMatch(/^assets +4 +\d+(\.\d)? kB +1 +\/.*\/data\/lake\/assets$/);
  await folder.change('update token_accounts set amount = 7');
  const again = await exportCli('assets', 'token_accounts', '--json');
  const results = JSON.parse(again.stdout) as ExportResult[];
  expect(results.map(({ table, written }) => [table, written])).toEqual([
    ['assets', false],
    ['token_accounts', true],
  ]);
  const link = join(folder.root, 'data', 'lake', 'token_accounts');
  expect(await readlink(link)).toBe(`.sets/token_accounts/${results[1]!.exportId}`);
});

test('the config says where the lake is, what goes into it and how', async () => {
  await writeFile(
    join(folder.root, 'ledgerlake.yaml'),
    'lake: { uri: out/lake, tables: [token_accounts], partition_by: { token_accounts: [mint] }, keep: 1 }\n',
  );
  expect((await exportCli()).code).toBe(0);
  const lake = join(folder.root, 'out', 'lake');
  expect((await readdir(lake)).sort()).toEqual(['.sets', '_lake.json', '_manifests', 'token_accounts']);
  expect((await readdir(join(lake, 'token_accounts'))).sort()).toEqual([
    'mint=mint-0',
    'mint=mint-1',
    'mint=mint-2',
  ]);
});

test('invalid arguments exit 2 with a hint', async () => {
  const unknown = await exportCli('asset');
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('there is no table "asset"');
  expect(unknown.stderr).toContain('assets, ');
  const none = await exportCli('--data-dir', 'none');
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('ledgerlake run') });
  expect(await readdir(folder.root)).not.toContain('none');
});

test('while a run is at work, export waits for nobody: exit 75, nothing written', async () => {
  const lock = await takeRunLock(join(folder.root, 'data', 'run.lock'), join(folder.root, 'temp'));
  onTestFinished(() => lock.release());
  // A process: this one may open what it has open already.
  expect(await startProgram(['export'], { cwd: folder.root }).ended).toMatchObject({
    code: 75,
    stderr: expect.stringContaining('another run is using this data folder'),
  });
  expect(await readdir(join(folder.root, 'data'))).not.toContain('lake');
});

test('a disk that fills up exits 74 and leaves the former export as it was', async () => {
  await exportCli('token_accounts');
  const lake = join(folder.root, 'data', 'lake');
  const before = await readlink(join(lake, 'token_accounts'));
  await folder.change(
    `insert into token_accounts by name
    select md5(i::varchar) || md5((-i)::varchar) as address, now() as seen_at, seen_at as changed_at, 'r' as run_id, hash(i) as record_hash
    from range(200000) r(i)`,
  );
  // No file may grow above 4 MB (in blocks of 1,024): the system refuses the write as it does on a full disk.
  const program = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
  const command = `ulimit -f 4096; exec "${process.execPath}" "${program}" export token_accounts`;
  const failed = await promisify(execFile)('bash', ['-c', command], { cwd: folder.root }).catch(
    (error) => error,
  );
  expect(failed.code).toBe(74);
  expect(failed.stderr).toContain('ledgerlake: cannot write');
  expect(await readdir(join(lake, '.sets', 'token_accounts'))).toEqual([basename(before)]);
  expect(await readlink(join(lake, 'token_accounts'))).toBe(before);
  const manifest = JSON.parse(await readFile(join(lake, '_manifests', 'token_accounts.json'), 'utf8'));
  expect(manifest.rows).toBe(100);
  expect((await exportCli('token_accounts')).code).toBe(0);
  expect(await readlink(join(lake, 'token_accounts'))).not.toBe(before);
});

test('jobs check and doctor refuse a partition by a column that is not there', async () => {
  const jobs = join(folder.root, 'jobs');
  await mkdir(jobs);
  await writeFile(
    join(jobs, 'a.yaml'),
    'describe: newest\nmethod: getLatestCompressionSignatures\nsince: 1d\n',
  );
  await writeFile(join(folder.root, 'ledgerlake.yaml'), 'lake: { partition_by: { assets: [day] } }\n');
  for (const command of [
    ['jobs', 'check'],
    ['doctor', '--offline'],
  ]) {
    const { code, stdout, stderr } = await runProgram(command, { cwd: folder.root });
    expect({ code, text: stdout + stderr }).toEqual({
      code: 2,
      text: expect.stringContaining('ledgerlake.yaml:1: lake.partition_by: assets has no column "day"'),
    });
  }
});

test('a lake that cannot be made exits 74', async () => {
  await writeFile(join(folder.root, 'file'), '');
  await writeFile(join(folder.root, 'ledgerlake.yaml'), 'lake: { uri: file/lake }\n');
  const { code, stderr } = await exportCli();
  expect({ code, stderr }).toEqual({ code: 74, stderr: expect.stringContaining('file/lake (ENOTDIR)') });
});

test('of an option given twice the last counts', async () => {
  const { code, stdout } = await exportCli('assets', '--data-dir', 'none', '--data-dir', 'data');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('data/lake/assets') });
});
