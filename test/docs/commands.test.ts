import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { withoutLimits } from '../support/limits.ts';
import { listBlocks, root } from './documents.ts';

/** Documents whose `sh` blocks are run, from the top, in a copy of the repository (CONTRIBUTING.md). */
const documents = ['README.md', 'docs/tutorial.md', 'docs/how-to.md'];

/** What a fresh clone has, as far as the commands need it. */
const copied = ['Makefile', 'package.json', 'package-lock.json'];
const folders = ['dist', 'jobs', 'scripts', 'sql', 'src'];

const small = { assets: 240, owners: 24 };
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox(small);
});

afterAll(async () => {
  await sandbox.close();
});

test.each(documents)('every command of %s succeeds', { timeout: 240_000 }, async (document) => {
  const blocks = listBlocks(document, 'sh');
  expect(blocks.length).toBeGreaterThan(0);
  const copy = await copyRepository();
  // The README's are started as they stand there.
  const path = document === 'README.md' ? process.env.PATH : await makeShortcut(copy);
  let queries = 0;
  try {
    for (const block of blocks) {
      const { code, output, rows } = await runBlock(block, copy, path);
      expect(code, `${document}:\n${block}\n${output}`).toBe(0);
      // What the README asks has an answer after its own steps.
      if (document === 'README.md' && isQuery(block)) {
        expect(rows, `${block}\n${output}`).toBeGreaterThan(0);
        queries += 1;
      }
    }
    if (document === 'README.md') expect(queries).toBe(3);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});

/** Whether a block is one query that prints its rows. */
function isQuery(block: string): boolean {
  return (
    block.startsWith('npx ledgerlake sql ') && !block.slice(1).includes('\nnpx ') && !block.includes(' -o ')
  );
}

async function copyRepository(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ledgerlake-docs-'));
  for (const name of [...copied, ...folders]) {
    await cp(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  }
  await linkModules(copy);
  await writeFile(join(copy, 'ledgerlake.yaml'), withoutLimits(''));
  return copy;
}

/** The packages of this checkout, as if `npm ci` had just put them there. */
async function linkModules(copy: string): Promise<void> {
  const modules = join(copy, 'node_modules');
  await mkdir(modules);
  for (const name of await listPackages())
    await symlink(join(root, 'node_modules', name), join(modules, name));
  // Newer than the lock file: make sees nothing to install.
  await writeFile(join(modules, '.package-lock.json'), '{}');
}

async function listPackages(): Promise<string[]> {
  return (await readdir(join(root, 'node_modules'))).filter((name) => name !== '.package-lock.json');
}

/** Puts before the PATH an `npx` that starts the copy's program: npm takes longer than most of what it starts. */
async function makeShortcut(copy: string): Promise<string> {
  const folder = join(copy, 'shortcut');
  await mkdir(folder);
  await writeFile(
    join(folder, 'npx'),
    `#!/bin/sh\n[ "$1" = ledgerlake ] || exit 2\nshift\nexec node '${copy}/dist/cli.js' "$@"\n`,
    { mode: 0o755 },
  );
  return `${folder}:${process.env.PATH}`;
}

/**
 * One block, as a shell would run it that stops at the first failure.
 * @returns `output` of both streams, and lines on stdout below a table's head
 */
function runBlock(
  block: string,
  cwd: string,
  PATH: string | undefined,
): Promise<{ code: number | null; output: string; rows: number }> {
  const env = {
    PATH,
    HOME: process.env.HOME,
    LEDGERLAKE_RPC_URL: sandbox.url,
    LEDGERLAKE_API_KEY: 'sandbox',
    DEMO_ASSETS: `${small.assets}`,
    DEMO_OWNERS: `${small.owners}`,
  };
  const child = spawn('bash', ['-euo', 'pipefail', '-c', block], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let stdout = '';
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes.toString();
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const head = block.includes('--format table') ? 2 : 1;
      resolve({ code, output, rows: stdout.trim().split('\n').length - head });
    });
  });
}
