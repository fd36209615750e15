import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readConfig } from '../../../src/config/config.ts';
import { schedules } from '../../../src/project/project.ts';
import { scheduleFiles } from '../../../src/project/schedules.ts';
import { skipWithout } from '../../support/needs.ts';
import { runProgram } from '../../support/program.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledgerlake-init-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const address = (letter: string) => letter.repeat(40);
const init = (...args: string[]) => runProgram(['init', ...args], { cwd: folder });
const listFiles = (of = 'p') =>
  readdirSync(join(folder, of), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, of).length + 1))
    .sort();

test('everything that can be followed: the jobs pass their check as they are written', async () => {
  const flags = ['--collection', address('a'), '--collection', address('b'), '--creator', address('c')];
  const { code, stdout } = await init('p', ...flags, '--owner', address('d'), '--wallet', address('e'));
  expect(code).toBe(0);
  expect(stdout).toContain('wrote jobs/wallet-transfers.yaml\n');
  expect(listFiles()).toEqual([
    '.env.example',
    '.gitignore',
    'config.schema.json',
    'jobs/asset-content.yaml',
    'jobs/collections.yaml',
    'jobs/creators.yaml',
    'jobs/job.schema.json',
    'jobs/owners.yaml',
    'jobs/targets/collections.txt',
    'jobs/targets/creators.txt',
    'jobs/targets/owners.txt',
    'jobs/targets/wallets.txt',
    'jobs/wallet-balances.yaml',
    'jobs/wallet-transfers.yaml',
    'ledgerlake.yaml',
  ]);
  const checked = await runProgram(['jobs', 'check'], { cwd: join(folder, 'p') });
  expect(checked.stderr).toBe('');
  expect(checked.stdout).toContain('6 jobs, no problems');
  expect(readFileSync(join(folder, 'p/jobs/targets/collections.txt'), 'utf8')).toBe(
    `# The collections we follow: one address a line; # starts a comment.\n${address('a')}\n${address('b')}\n`,
  );
  expect((await readConfig({ env: {}, cwd: join(folder, 'p'), needsKey: false })).limits).toEqual({
    wallet: { rps: 2 },
  });
});

test('--sample: the sample collections, which the API inside the program answers', async () => {
  expect((await init('p', '--sample')).code).toBe(0);
  const { code, stdout } = await runProgram(['run', 'collections', '--max-requests', '3', '--json'], {
    cwd: join(folder, 'p'),
  });
  expect(code).toBe(75);
  expect(JSON.parse(stdout)).toMatchObject({ requests: 3 });
  const config = readFileSync(join(folder, 'p/ledgerlake.yaml'), 'utf8');
  // Taken out of its comments, every example in the file is valid, too.
  const uncommented = config.replace(/^( *)# (?=[a-z_]+:| {2}[a-z]+:)/gm, '$1').replace(/^# {2}/gm, '  ');
  writeFileSync(join(folder, 'p/ledgerlake.yaml'), uncommented);
  const options = { env: {}, cwd: join(folder, 'p'), needsKey: false, environment: 'prod' };
  expect(await readConfig(options)).toMatchObject({
    rpcUrl: 'https://rpc.example.com',
    monthlyCredits: 500_000,
    billingDay: 1,
  });
});

test('what is there stays as it is, byte for byte; what is missing comes beside it', async () => {
  await init('p', '--sample');
  writeFileSync(join(folder, 'p/ledgerlake.yaml'), 'mine: true\n');
  const { code, stdout } = await init('p', '--wallet', address('w'), '--schedule', 'cron', '--json');
  expect(code).toBe(0);
  expect(readFileSync(join(folder, 'p/ledgerlake.yaml'), 'utf8')).toBe('mine: true\n');
  expect(JSON.parse(stdout)).toEqual({
    folder: join(folder, 'p'),
    written: [
      'jobs/targets/wallets.txt',
      'jobs/wallet-balances.yaml',
      'jobs/wallet-transfers.yaml',
      'schedule/crontab',
    ],
    kept: ['ledgerlake.yaml', 'config.schema.json', '.env.example', '.gitignore', 'jobs/job.schema.json'],
  });
});

test('a schedule for a project that is there: nothing is asked, no sample comes beside its jobs', async () => {
  await init('p', '--wallet', address('w'));
  const { code, stdout } = await init('p', '--schedule', 'systemd', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout).written).toEqual([
    'schedule/ledgerlake.service',
    'schedule/ledgerlake.timer',
    'schedule/ledgerlake-check.service',
    'schedule/ledgerlake-check.timer',
  ]);
});

test.each([
  [['p'], 'there is no terminal to ask what to follow'],
  [['p', '--yes'], 'there is nothing to follow'],
  [['p', '--wallet', 'O0Il'], '--wallet takes base58 addresses of 32 to 44 characters, not "O0Il"'],
  [
    ['p', '--schedule', 'at'],
    '--schedule takes cron, systemd, github, kubernetes, airflow or dagster, not "at"',
  ],
])('%j is refused, and nothing is written', async (args, message) => {
  const { code, stderr } = await init(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
  expect(readdirSync(folder)).toEqual([]);
});

describe('schedules', () => {
  const place = {
    folder: `/srv/our "lake" 5%`,
    program: ['/usr/bin/node', '/opt/l l/cli.js'],
    version: '1.2.3',
  };
  const textOf = (schedule: (typeof schedules)[number]) => scheduleFiles(schedule, place)[0]!.text;

  test('each has its files', () =>
    expect(schedules.flatMap((schedule) => scheduleFiles(schedule, place)).map(({ path }) => path)).toEqual([
      'schedule/crontab',
      'schedule/ledgerlake.service',
      'schedule/ledgerlake.timer',
      'schedule/ledgerlake-check.service',
      'schedule/ledgerlake-check.timer',
      '.github/workflows/ledgerlake.yml',
      'schedule/kubernetes.yaml',
      'schedule/airflow_dag.py',
      'schedule/dagster_definitions.py',
    ]));

  test('cron: the line is one, and a shell reads the paths out of it', () => {
    const lines = textOf('cron')
      .split('\n')
      .filter((line) => /^\d/.test(line));
    expect(lines).toHaveLength(2);
    // cron takes \% for %, and hands what comes behind five fields to sh.
    const command = lines[0]!.split(' ').slice(5).join(' ').replaceAll('\\%', '%');
    const shell = command
      .replace(/^cd /, 'show ')
      .replace(' && { ', '; show ')
      .replace(/ run .*$/, '');
    const output = execFileSync('sh', ['-c', `show() { printf '%s|' "$@"; }; ${shell}`], {
      encoding: 'utf8',
    });
    expect(output).toBe(`${place.folder}|${place.program.join('|')}|`);
  });

  test('systemd: specifiers and words are quoted', () => {
    expect(textOf('systemd')).toContain('WorkingDirectory=/srv/our "lake" 5%%\n');
    expect(textOf('systemd')).toContain('ExecStart=/usr/bin/node "/opt/l l/cli.js" run --until 5h');
  });

  test('GitHub and Kubernetes: YAML that names the version', () => {
    const workflow = parse(textOf('github'));
    const { steps } = workflow.jobs.run;
    expect(steps[3].run).toBe('npm install --global ./ledgerlake-1.2.3.tgz');
    // What was received is kept however the run ended, and before the check, which may fail as well.
    const kept = steps.findIndex(({ uses }: { uses?: string }) => uses?.startsWith('actions/cache/save@'));
    expect(steps[kept]).toMatchObject({ if: 'always()', with: { path: 'data', key: steps[2].with.key } });
    expect(steps.slice(kept - 1).map(({ run }: { run?: string }) => run)).toEqual([
      'ledgerlake run --until 5h || test $? -eq 75',
      undefined,
      'ledgerlake check --max-age 26h',
    ]);
    const [claim, ...jobs] = parseAllDocuments(textOf('kubernetes')).map((document) => document.toJS());
    expect(claim.kind).toBe('PersistentVolumeClaim');
    const specs = jobs.map(({ spec }) => spec.jobTemplate.spec.template.spec);
    // A shell as the first process of a container would swallow SIGTERM.
    expect(specs.map(({ containers: [{ command }] }) => command)).toEqual([
      ['ledgerlake', 'run', '--until', '5h'],
      ['ledgerlake', 'check', '--max-age', '26h'],
    ]);
    for (const {
      containers: [container],
      volumes,
    } of specs)
      expect(container.volumeMounts.map(({ name }: { name: string }) => name)).toEqual(
        volumes.map(({ name }: { name: string }) => name),
      );
  });

  test('Airflow and Dagster: Python, with the paths as they are', (context) => {
    skipWithout(context, 'python', hasPython());
    for (const schedule of ['airflow', 'dagster'] as const) {
      const find = `import ast, sys
for node in ast.walk(ast.parse(sys.stdin.read())):
    if isinstance(node, ast.Constant) and node.value == sys.argv[1]: print("found")`;
      const output = execFileSync('python3', ['-c', find, place.folder], {
        input: textOf(schedule),
        encoding: 'utf8',
      });
      expect(output).toContain('found');
    }
  });
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
