import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { listBlocks } from '../support/documents.ts';
import { withoutLimits } from '../support/limits.ts';
import { skipWithout } from '../support/needs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));

const locked = Object.entries(readJson('package-lock.json').packages) as [string, LockedPackage][];

test('users install nothing that dist/ holds: the library that is built for one machine, and what finds it', () => {
  const used = locked.filter(([name, { dev }]) => name !== '' && !dev).map(([name]) => name);
  const others = used.filter((name) => !/^node_modules\/@duckdb\/node-bindings(-[a-z0-9-]+)?$/.test(name));
  expect(others).toEqual(['node_modules/detect-libc']);
});

test('what users install is what is tested here: overrides do not travel with a published package', () => {
  expect(readJson('package.json').overrides).toBeUndefined();
});

test('no package, in dist/ or beside it, needs a newer Node than the program says', () => {
  expect(locked.length).toBeGreaterThan(100);
  const newer = locked.filter(([, { engines }]) => leastMajor(engines?.node ?? '') > 20);
  expect(newer.map(([name]) => name)).toEqual([]);
});

interface LockedPackage {
  dev?: boolean;
  engines?: { node?: string };
}

/** The lowest major version of a range such as `>=18` or `^18.0.0 || >=20`. */
function leastMajor(range: string): number {
  const majors = range.split('||').map((part) => Number(/\d+/.exec(part)?.[0] ?? 0));
  return Math.min(...majors);
}

test('the packed program installs into an empty folder with --engine-strict, starts, and is a library', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerlake-package-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Without its scripts: the build is there, and other tests read it.
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const [tarball = ''] = readdirSync(folder);
  const cwd = join(folder, 'empty');
  mkdirSync(cwd);
  const quiet = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--fetch-retries=1'];
  const installed = spawnSync('npm', ['install', '--engine-strict', ...quiet, join('..', tarball)], {
    cwd,
    encoding: 'utf8',
  });
  const noAnswer = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/;
  skipWithout(context, 'registry', !noAnswer.test(installed.stderr));
  expect(installed.status, installed.stderr).toBe(0);
  const packages = readdirSync(join(cwd, 'node_modules')).filter((name) => !name.startsWith('.'));
  expect(packages).toEqual(['@duckdb', 'detect-libc', 'ledgerlake']);

  const start = (file: string, ...args: string[]) =>
    spawnSync(file, args, { cwd, encoding: 'utf8', env: { PATH: process.env.PATH } });
  const program = join(cwd, 'node_modules/.bin/ledgerlake');
  expect(start(program, '--version').stdout).toBe(`${readJson('package.json').version}\n`);
  const unknown = start(program, 'jobs', 'check', '--jobs-dir', 'none');
  expect(unknown.status, unknown.stderr).toBe(2);
  const bundled = join(cwd, 'node_modules/ledgerlake/jobs');
  expect(start(program, 'jobs', 'check', '--jobs-dir', bundled).status).toBe(0);

  // The example of the documentation, against sample data.
  const [collection] = readFileSync(join(bundled, 'targets/collections.txt'), 'utf8').match(/^\w+/m)!;
  const [example = ''] = listBlocks('docs/library.md', 'js');
  mkdirSync(join(cwd, 'jobs'));
  const files = {
    'ledgerlake.yaml': withoutLimits('sample: true\nlake: { tables: [webhooks] }\n'),
    'jobs/one.yaml': `describe: One collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collection}] } }
`,
    'nightly.mjs': example,
    'typed.mts': typedUse,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(cwd, path), text);
  const night = start(process.execPath, 'nightly.mjs');
  expect(night.status, night.stderr).toBe(0);
  expect(night.stdout).toMatch(/^\S+: exit code 0, \d+ requests\n[1-9]\d* assets, newest slot \d+\n$/);
  const count = start(program, 'sql', 'select count(*) > 0 as found from assets');
  expect(count.stdout).toBe('found\ntrue\n');

  const types = ['--noEmit', '--strict', '--ignoreConfig', '--module', 'nodenext', '--target', 'es2023'];
  const typed = start(join(root, 'node_modules/.bin/tsc'), ...types, '--types', '', 'typed.mts');
  expect(typed.stdout).toBe('');
  expect(typed.status).toBe(0);
});

const typedUse = `import { openSnapshot, plan, run, StoppedEarly, type RunResult, type Value } from 'ledgerlake';

const night: RunResult = await run({ maxRequests: 10, accept: ['r1a2b3c4d'] });
const inserted: number | undefined = night.published.tables.assets?.inserted;
const credits: number = (await plan({ jobs: ['one'] })).credits;
const rows: Record<string, Value>[] = await (await openSnapshot()).query('from assets');
const code: 69 | 75 = new StoppedEarly('', '').exitCode;
// @ts-expect-error: a number of seconds is not a duration
await run({ until: 90 });
export { code, credits, inserted, rows };
`;
