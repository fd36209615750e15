import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../support/program.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'ledgerlake-cli-'));
  await writeFile(join(root, 'ledgerlake.yaml'), 'sample: true\n');
  onTestFinished(() => rm(root, { recursive: true, force: true }));
});

const cli = (...args: string[]) => runProgram(args, { cwd: root, env: { SHELL: '/bin/bash' } });

/** `jobs check` of the folder `good` is one job; there is no folder `none`. */
async function writeJob(): Promise<void> {
  await mkdir(join(root, 'good'));
  await writeFile(join(root, 'good', 'list.yaml'), 'describe: x\nmethod: getLatestCompressionSignatures\n');
}

test('options of the program count before the command and after it; given twice, the last', async () => {
  await writeJob();
  const ways = [
    ['--json', '--jobs-dir', 'good', 'jobs', 'check'],
    ['jobs', 'check', '--jobs-dir=good', '--json'],
    ['--jobs-dir', 'none', 'jobs', '--no-progress', 'check', '--json', '--jobs-dir', 'good'],
    ['--no-progress', '--jobs-dir', 'none', '--jobs-dir', 'good', '--progress', '--json', 'jobs', 'check'],
    ['--json', '--log-level', 'debug', 'jobs', '--jobs-dir', 'good', '--', 'check'],
  ];
  for (const args of ways) {
    const { code, stdout, stderr } = await cli(...args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'list' }]);
  }
});

test.each<[string[], string]>([
  [[], 'Which command?'],
  [['--json'], 'Which command?'],
  [['runn'], 'no command is called "runn", did you mean "run"?'],
  [['run', '--max-request', '5'], 'no option is called "--max-request", did you mean "--max-requests"?'],
  [['methods', '--jsno'], 'no option is called "--jsno", did you mean "--json"?'],
  [['--max-requests', '5', 'run'], 'no option is called "--max-requests"'],
  [['run', '--maxRequests', '5'], 'no option is called "--maxRequests", did you mean "--max-requests"?'],
  [['run', '--no-json'], 'no option is called "--no-json"'],
  [['methods', '-j'], 'no option is called "-j"'],
  [['methods', '--api-key=secret'], 'no option is called "--api-key"'],
  [['methods', '--json=true'], '--json takes no value: give it alone, or leave it out'],
  [['run', '--no-progress=x'], '--no-progress takes no value: give it alone, or leave it out'],
  [['methods', '\u001b[2J'], 'methods takes no arguments, not 1'],
  [['\u001b[2J'], 'no command is called "␛[2J"'],
  [['status', 'a', 'b'], 'status takes 1 argument, not 2'],
  [['webhook', 'enable'], '<id> is missing'],
  [['jobs', 'chek'], '<action> takes check, not "chek"'],
  [['methods', '--log-level', 'loud'], '--log-level takes debug, info, warn, error or silent, not "loud"'],
  [
    ['sql', '--format', 'xml', 'select 1'],
    '--format takes table, csv, json, ndjson, parquet or arrow, not "xml"',
  ],
  [['run', '--until', '--json'], '--until needs a value: --until <duration>'],
  [['--data-dir=', 'load'], '--data-dir takes a path, not ""'],
  [['--data-dir', '--json', 'load'], 'a path (one that begins so is written ./--json), not "--json"'],
  [['sandbox', '--port='], '--port takes a number, not ""'],
  [['sandbox', '--port', '12a'], '--port takes a number, not "12a"'],
])('%j: 2, and why', async (args, message) => {
  const { code, stdout, stderr } = await cli(...args);
  expect(code).toBe(2);
  // A program reads the failure too.
  if (args.includes('--json')) expect(JSON.parse(stdout)).toMatchObject({ exitCode: 2 });
  else expect(stdout).toBe('');
  expect(stderr).toMatch(/^ledgerlake: .+\n {2}ledgerlake --help lists the commands, .+\n$/);
  expect(stderr).toContain(message);
});

test.each<[string[], string]>([
  [['run', '--max-requests', '-5'], '--max-requests takes a whole number, not "-5"'],
  [
    ['run', '--max-credits=99999999999999999999'],
    'a whole number up to 999999999999999, not "99999999999999999999"',
  ],
  [['runs', '--limit', '-1'], '--limit takes a whole number from 1, not -1'],
  [['runs', '--limit', '5', '--limit', '0'], 'not 0'],
  [['sql', '-f', 'a.sql', '-f', 'b.sql'], 'cannot read b.sql'],
  [['tables', '--', '--help'], 'no table is called "--help"'],
  [['tables', '-1'], 'no table is called "-1"'],
  [['call', '007'], 'no operation is called "007"'],
  [['call', '0x1f'], 'no operation is called "0x1f"'],
  [['call', '--', '12345678901234567890123'], 'no operation is called "12345678901234567890123"'],
  [['run', '--max-requests', '12345678901234567890123'], 'not "12345678901234567890123"'],
  [['run', '--until', '0x1F'], 'not "0x1F"'],
  [['sql', '-fa.sql'], 'cannot read a.sql'],
  [['sql', '--file.x=1', '-f', 'a.sql'], 'no option is called "--file.x"'],
])('%j reaches the command as it is written', async (args, message) => {
  expect(await cli(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
});

test('--help and --version go to stdout; what is special to a command comes before what all have', async () => {
  const version = await cli('--version');
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/), stderr: '' });
  expect(await cli('run', '--version')).toEqual(version);
  const { code, stdout, stderr } = await cli('run', '--help', '--no-such');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Usage: ledgerlake run \[options\] \[job\.{3}\]\n[\s\S]*--max-requests <n>[\s\S]*--data-dir <folder>[\s\S]*\nExamples:\n/,
  );
});

test.each<[string[], string[]]>([
  [['ru'], ['run', 'runs']],
  [['runs', '--li'], ['--limit']],
  [['run', '--no'], ['--no-progress']],
  [
    ['methods', '--log-level', ''],
    ['debug', 'info', 'warn', 'error', 'silent'],
  ],
  [['state', ''], ['reset']],
  [['run', '--jobs-dir', 'good', ''], ['list']],
  [['--jobs-dir', 'good', 'check', 'list', 'l'], ['list']],
  [['tables', 'asset_f'], ['asset_files']],
  [['call', 'getLatest'], ['getLatestCompressionSignatures']],
  [['run', '--config', ''], []],
])('completion of %j', async (words, found) => {
  await writeJob();
  const { code, stdout } = await cli('--get-yargs-completions', 'ledgerlake', ...words);
  expect({ code, found: stdout.split('\n').slice(0, -1) }).toEqual({ code: 0, found });
});

test('completion prints a script that bash accepts, and names how to install it', () => {
  const program = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
  const script = execFileSync(process.execPath, [program, 'completion', 'bash'], { encoding: 'utf8' });
  expect(script).toContain('ledgerlake completion bash >> ~/.bashrc');
  const asked = `${script}\ncomplete -p ledgerlake`;
  expect(execFileSync('bash', ['-c', asked], { encoding: 'utf8' })).toContain(
    '-F _ledgerlake_yargs_completions',
  );
});
