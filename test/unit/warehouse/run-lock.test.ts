import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { takeRunLock } from '../../../src/warehouse/run-lock.ts';

// A root user's chmod fails on no file of its own, so its failure is made here.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  return { ...real, chmod: vi.fn(real.chmod) };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'run-lock-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** Tries to take the lock; gives what was thrown, and how many of what was opened were closed. */
async function tryLock() {
  const connections = vi.spyOn(DuckDBConnection.prototype, 'closeSync');
  const instances = vi.spyOn(DuckDBInstance.prototype, 'closeSync');
  const reason = await takeRunLock(join(folder, 'run.lock'), folder).then(
    () => null,
    (error: Error) => error.message,
  );
  return { reason, connections: connections.mock.calls.length, instances: instances.mock.calls.length };
}

test('a lock file whose permissions cannot be set is not left locked', async () => {
  vi.mocked(chmod).mockRejectedValueOnce(new Error('not permitted'));
  expect(await tryLock()).toEqual({ reason: 'not permitted', connections: 1, instances: 1 });
});

test('nor is one that opens but takes no connection, or no statement', async () => {
  vi.spyOn(DuckDBInstance.prototype, 'connect').mockRejectedValueOnce(new Error('no connection'));
  expect(await tryLock()).toEqual({ reason: 'no connection', connections: 0, instances: 1 });
  vi.restoreAllMocks();
  vi.spyOn(DuckDBConnection.prototype, 'run').mockRejectedValueOnce(new Error('no memory'));
  expect(await tryLock()).toEqual({ reason: 'no memory', connections: 1, instances: 1 });
});
