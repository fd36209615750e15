import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { daily } from '../../levels.ts';
import { listBlocks, root } from '../../support/documents.ts';

/** What a fresh clone has, as far as the commands need it. */
const copied = ['Makefile', 'package.json', 'package-lock.json', 'dist', 'jobs', 'scripts', 'sql', 'src'];

/** Every other command of the documents runs in this process: transcripts.test.ts. */
daily('the first two commands of the README, as they stand there, in a copy', async () => {
  const [demo, query] = listBlocks('README.md', 'sh');
  expect([demo, query]).toEqual(['make demo\n', expect.stringMatching(/^npx ledgerlake sql /)]);
  const copy = await copyRepository();
  try {
    for (const block of [demo!, query!]) {
      const { code, output } = await runBlock(block, copy);
      expect(code, `${block}\n${output}`).toBe(0);
      expect(output).toContain('CSJMp3LmxCDvjnxJSHGD3vUmzPtJ5nUc7JmBZWQqvr6Y');
    }
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
});

async function copyRepository(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'ledgerlake-clone-'));
  for (const name of copied)
    await cp(join(root, name), join(copy, name), { recursive: true, preserveTimestamps: true });
  // The packages of this checkout, as if `npm ci` had just put them there: their list is newer than the lock file.
  const modules = join(copy, 'node_modules');
  await mkdir(modules);
  for (const name of await readdir(join(root, 'node_modules')))
    if (name !== '.package-lock.json') await symlink(join(root, 'node_modules', name), join(modules, name));
  await cp(join(root, 'node_modules/.package-lock.json'), join(modules, '.package-lock.json'));
  return copy;
}

/** One block, as a shell would run it that stops at the first failure. @returns `output` of both streams */
function runBlock(block: string, cwd: string): Promise<{ code: number | null; output: string }> {
  const { PATH, HOME } = process.env;
  const child = spawn('bash', ['-euo', 'pipefail', '-c', block], {
    ...{ cwd, env: { PATH, HOME, DEMO_ASSETS: '240', DEMO_OWNERS: '24' } },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
