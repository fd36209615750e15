import { access, type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The record file of a segment. A segment's number is the millisecond at which it was opened, or one more than the newest
 * number if the clock went back. Numbers are never reused, and later segments have higher ones.
 */
export function recordFile(dir: string, segment: number): string {
  return join(dir, `${segment}.ndjson`);
}

/** The page file of a segment. */
export function pageFile(dir: string, segment: number): string {
  return join(dir, `${segment}.pages.ndjson`);
}

/** Segments in a landing folder, oldest first. A missing folder has none. */
export async function listSegments(dir: string): Promise<number[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .map((name) => /^(\d+)\.pages\.ndjson$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** Makes a folder's entries (new, renamed or removed files) survive a power loss. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a finished file's bytes survive a power loss. */
export async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r+');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Opens a file for reading; null if it does not exist. */
export async function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/** Reads `length` bytes of a file, fewer only at its end (one `read` may return less). */
export async function readBytes(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  for (let done = 0; done < length; ) {
    const { bytesRead } = await file.read(bytes, done, length - done, start + done);
    if (bytesRead === 0) return bytes.subarray(0, done);
    done += bytesRead;
  }
  return bytes;
}

/** Reads a whole file, 1 MB at a time into one buffer, which `work` must not keep. */
export async function readChunks(path: string, work: (chunk: Buffer) => void): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafe(1 << 20);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      work(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** Whether a file or folder exists. */
export function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Writes or overwrites a file with mode 600; durable when it resolves, once the folder is synced. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
