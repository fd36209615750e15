import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { daily } from '../levels.ts';
import { skipWithout } from '../support/needs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lines joined where they go on, without comments, as keyword and rest. */
const instructions = readFileSync(join(root, 'Containerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^(\S+) (.*)$/.exec(line)!.slice(1) as [string, string]);
const restOf = (keyword: string) => instructions.flatMap(([name, rest]) => (name === keyword ? [rest] : []));
/** What is copied from the clone. */
const sources = restOf('COPY')
  .filter((rest) => !rest.startsWith('--from='))
  .flatMap((rest) => rest.split(' ').slice(0, -1));

test('each instruction is one that there is, and the last stage runs as a user that is not root', () => {
  const known = 'ARG FROM WORKDIR COPY RUN ENV VOLUME USER HEALTHCHECK ENTRYPOINT CMD'.split(' ');
  expect(instructions.filter(([name]) => !known.includes(name))).toEqual([]);
  const last = instructions.slice(instructions.findLastIndex(([name]) => name === 'FROM'));
  const names = last.map(([name]) => name);
  expect(last.filter(([name]) => name === 'USER')).toEqual([['USER', '1000:1000']]);
  // Nothing is done as root after that, and the folder of the volume is made before it is one.
  expect(names.lastIndexOf('RUN')).toBeLessThan(names.indexOf('VOLUME'));
  expect(names.indexOf('VOLUME')).toBeLessThan(names.indexOf('USER'));
  expect(restOf('VOLUME')).toEqual(restOf('WORKDIR').slice(-1));
  expect(JSON.parse(restOf('ENTRYPOINT')[0]!)).toEqual(Object.keys(readPackage().bin));
  expect(restOf('HEALTHCHECK')[0]).toMatch(/ CMD ledgerlake check .*\|\| exit 1$/);
});

test('what is copied is there and is sent, and nothing else is sent: no data and no .env', () => {
  expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  const [all, ...sent] = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(all).toBe('*');
  expect(sent.sort()).toEqual(sources.map((path) => `!${path}`).sort());
});

daily('the build stage, instruction by instruction, makes a program that runs as another user', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerlake-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const [from, to] = instructions.flatMap(([name], n) => (name === 'FROM' ? [n] : []));
  for (const [name, rest] of instructions.slice(from! + 1, to))
    if (name === 'COPY') {
      const [target, ...paths] = rest.split(' ').reverse() as [string, ...string[]];
      for (const path of paths)
        cpSync(join(root, path), join(folder, target, paths.length > 1 ? path : ''), { recursive: true });
    } else if (name === 'RUN') execFileSync('sh', ['-c', rest], { cwd: folder, stdio: 'pipe' });
  const project = mkdtempSync(join(tmpdir(), 'ledgerlake-volume-'));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(project, 1000, 1000);
  const start = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'dist/cli.js'), ...args], {
      ...{ cwd: project, env: { PATH: process.env.PATH }, encoding: 'utf8' },
      ...(isRoot && { uid: 1000, gid: 1000 }),
    });
  expect(start('--version').stdout).toBe(`${readPackage().version}\n`);
  expect(start('init', '.', '--sample', '--schedule', 'kubernetes')).toMatchObject({ status: 0, stderr: '' });
  expect(start('run', '--max-requests', '2').status).toBe(75);
});

const engine = ['podman', 'docker'].find((name) => spawnSync(name, ['info']).status === 0);

test('the image is built and runs: rootless, on a read-only root', { timeout: 900_000 }, (context) => {
  skipWithout(context, 'engine', engine !== undefined);
  const image = 'ledgerlake-test';
  execFileSync(engine!, ['build', '--file', 'Containerfile', '--tag', image, '.'], { cwd: root });
  onTestFinished(() => void spawnSync(engine!, ['image', 'rm', '--force', image]));
  const start = (...args: string[]) =>
    spawnSync(
      engine!,
      ['run', '--rm', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'all', image, ...args],
      {
        encoding: 'utf8',
      },
    );
  expect(start('--version').stdout).toBe(`${readPackage().version}\n`);
  const night = start('init', '.', '--sample');
  expect(night.status, night.stderr).toBe(0);
  expect(start('check').status).not.toBe(0);
});

function readPackage(): { version: string; bin: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}
