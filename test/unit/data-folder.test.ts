import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { dataFolder, makeDataFolder } from '../../src/data-folder.ts';
import { UsageError } from '../../src/errors.ts';

test('a data folder below a current folder that was removed is refused, and looked for no longer', async () => {
  const before = process.cwd();
  const gone = await mkdtemp(join(tmpdir(), 'gone-'));
  process.chdir(gone);
  // Of a path of two folders, Node's mkdirSync looks for a parent without end.
  onTestFinished(() => process.chdir(before));
  await rm(gone, { recursive: true });
  await expect(makeDataFolder(dataFolder(join('data', 'night')))).rejects.toThrow(UsageError);
});
