import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Bytes that the folders of all tests take at most, and as much again. */
const wantedBytes = 4_000_000_000;

/**
 * Where the tests make their folders, removed when all have ended: in memory where there is room, because a night waits
 * for some 60 syncs of a disk. TMPDIR says otherwise.
 */
export default function makeTempFolder(): (() => void) | undefined {
  const prefix = 'ledgerlake-tests-';
  // Each project of vitest.config.ts calls this; one folder is for all.
  if (process.env.TMPDIR?.includes(prefix)) return undefined;
  const folder = mkdtempSync(join(process.env.TMPDIR ?? findMemory() ?? tmpdir(), prefix));
  // Some tests run the program as another user.
  chmodSync(folder, 0o755);
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** A file system in memory with enough room; null without one. */
function findMemory(): string | null {
  const path = '/dev/shm';
  try {
    accessSync(path, constants.W_OK);
    const { bavail, bsize } = statfsSync(path);
    return Math.min(bavail * bsize, freemem()) > wantedBytes ? path : null;
  } catch {
    return null;
  }
}
