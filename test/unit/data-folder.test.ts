import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataFolder, refuseOddPath } from '../../src/data-folder.ts';
import { UsageError } from '../../src/errors.ts';

test('a data folder below a current folder that was removed is refused, and looked for no longer', async () => {
  const before = process.cwd();
  const gone = await mkdtemp(join(tmpdir(), 'gone-'));
  process.chdir(gone);
  // Of a path of two folders, Node's mkdirSync looks for a parent without end.
  onTestFinished(() => process.chdir(before));
  await rm(gone, { recursive: true });
  expect(() => dataFolder(join('data', 'night'))).toThrow(UsageError);
});

test('a data folder below a current folder whose name DuckDB cannot open is refused', async () => {
  const before = process.cwd();
  const odd = join(await mkdtemp(join(tmpdir(), 'odd-')), 'a?b');
  await mkdir(odd);
  process.chdir(odd);
  onTestFinished(() => process.chdir(before));
  expect(() => refuseOddPath('data', '--data-dir')).toThrow(UsageError);
});
