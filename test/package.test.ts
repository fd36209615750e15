import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const readJson = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));

test('what users install is what is tested here: overrides do not travel with a published package', () => {
  expect(readJson('package.json').overrides).toBeUndefined();
});

test('no package that users get needs a newer Node than the program says', () => {
  const packages = Object.entries(readJson('package-lock.json').packages) as [string, LockedPackage][];
  const used = packages.filter(([name, { dev }]) => name !== '' && !dev);
  expect(used.length).toBeGreaterThan(30);
  const newer = used.filter(([, { engines }]) => leastMajor(engines?.node ?? '') > 20);
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

test('the packed program installs into an empty folder with --engine-strict, and starts', {
  timeout: 180_000,
}, (context) => {
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
  context.skip(
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(installed.stderr),
    'the registry does not answer',
  );
  expect(installed.status, installed.stderr).toBe(0);
  const program = join(cwd, 'node_modules/.bin/ledgerlake');
  expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe(
    `${readJson('package.json').version}\n`,
  );
  // DuckDB's library is the one package that is not in the bundle.
  const { status, stderr } = spawnSync(program, ['jobs', 'check', '--jobs-dir', 'none'], {
    cwd,
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(2);
  const bundled = join(cwd, 'node_modules/ledgerlake/jobs');
  execFileSync(program, ['jobs', 'check', '--jobs-dir', bundled], { cwd });
});
