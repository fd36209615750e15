import { tmpdir } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../../src/warehouse/database.ts';

test('threads and memory of a piece of work end with it, inside another one too', async () => {
  const database = await openDatabase(':memory:', { memoryLimit: '64MB', threads: 2, tempDir: tmpdir() });
  onTestFinished(() => database.close());
  const settings = async () => {
    const [row] = await database.rows<{ memory: string; threads: bigint }>(
      "select current_setting('memory_limit') as memory, current_setting('threads') as threads",
    );
    return `${row!.memory}, ${row!.threads}`;
  };
  // Worth more than one thread.
  await database.useThreads([process.execPath]);
  const seen = [await settings()];
  await database.withMemory('128MiB', () =>
    database.onOneThread(async () => {
      await database.withMemory('256MiB', () =>
        database.onOneThread(async () => seen.push(await settings())),
      );
      seen.push(await settings());
    }),
  );
  seen.push(await settings());
  expect(seen).toEqual(['61.0 MiB, 2', '256.0 MiB, 1', '128.0 MiB, 1', '61.0 MiB, 2']);
});
