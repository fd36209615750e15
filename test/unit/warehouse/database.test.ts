import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

test('a parameter that a reader gets is a path, whatever its name and its characters', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'paths-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const database = await openDatabase(':memory:', { memoryLimit: '64MB', threads: 1, tempDir: folder });
  onTestFinished(() => database.close());
  // As a pattern, the second names the first.
  for (const [n, name] of ['ab', '[ab]*'].entries()) {
    await mkdir(join(folder, name));
    const file = join(folder, name, 'rows.parquet');
    await database.run(`copy (select ${n} as n) to $file (format parquet)`, { file });
    const read = (sql: string, params: Record<string, string | string[]>) => database.rows(sql, params);
    expect(await read('select n from read_parquet($any_name)', { any_name: file })).toEqual([{ n }]);
    expect(await read('select n from read_parquet(\n  $several\n)', { several: [file] })).toEqual([{ n }]);
    expect(await read('select $file as file from parquet_metadata($path)', { file, path: file })).toEqual([
      { file },
    ]);
  }
});
