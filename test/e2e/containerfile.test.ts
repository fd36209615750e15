import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
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

test('what is copied is enough to build the package that users get', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerlake-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const path of sources) cpSync(join(root, path), join(folder, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: folder });
  const listPacked = (cwd: string): string[] => {
    const args = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const [packed] = JSON.parse(execFileSync('npm', args, { cwd, encoding: 'utf8' }));
    // The names of chunks have hashes of what paths are in them.
    return packed.files
      .map(({ path }: { path: string }) => path)
      .filter((path: string) => !/^dist\/.*-[A-Z0-9]{8}\./.test(path));
  };
  expect(listPacked(folder)).toEqual(listPacked(root));
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
  const night = start('init', '.', '--yes');
  expect(night.status, night.stderr).toBe(0);
  expect(start('check').status).not.toBe(0);
});

function readPackage(): { version: string; bin: Record<string, string> } {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}
