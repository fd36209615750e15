import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readJobs } from '../../../src/jobs/job-file.ts';

test('the hint of a missing jobs folder is a command that makes it, also where names hold spaces and quotes', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ledgerlake-jobs-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const missing = join(dir, "Ada's jobs");
  const { hint } = await readJobs(missing).catch((error) => error);
  execFileSync('sh', ['-c', hint.split('bundled jobs: ')[1]]);
  expect((await readJobs(missing)).length).toBeGreaterThan(3);
  for (const { file } of await readJobs(missing)) {
    const [, schema = ''] = /\$schema=(\S+)/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(existsSync(join(missing, schema)), schema).toBe(true);
  }
});
