import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { isMatching, readBlocks } from './database-blocks.ts';

/** SHA-256 of each header and block of a database file, by its offset. */
export type BlockDigests = ReadonlyMap<number, string>;

/** Bytes written before they are synced: what the crawl syncs meanwhile would wait for all of them. */
const syncBytes = 64 << 20;

/** Copies a database file that nobody writes. The copy is durable, its name is not. @throws what `signal` says */
export async function copyBlocks(from: string, to: string, signal: AbortSignal): Promise<BlockDigests> {
  const digests = new Map<number, string>();
  await withBoth(from, to, 'w', async (file, copy) => {
    let unsynced = 0;
    for await (const { offset, bytes, size } of readBlocks(file)) {
      signal.throwIfAborted();
      for (let at = 0; at < bytes.length; at += size)
        digests.set(offset + at, digestOf(bytes.subarray(at, at + size)));
      await writeFully(copy, bytes, offset);
      unsynced += bytes.length;
      if (unsynced >= syncBytes) {
        await copy.datasync();
        unsynced = 0;
      }
    }
    await copy.sync();
  });
  return digests;
}

/**
 * Makes the copy of a database file's former state, whose digests are given, equal to the file, which nobody may have
 * open for writing: reads the file and writes what differs.
 * @returns offset of the first part written whose checksum does not match, or null
 */
export async function updateCopy(from: string, to: string, former: BlockDigests): Promise<number | null> {
  let wrong: number | null = null;
  await withBoth(from, to, 'r+', async (file, copy) => {
    for await (const { offset, bytes, size, isWhole } of readBlocks(file)) {
      if (!isWhole) wrong ??= offset;
      // Neighbours are written together.
      let unwritten = 0;
      for (let at = 0; at < bytes.length; at += size) {
        const block = bytes.subarray(at, at + size);
        if (former.get(offset + at) !== digestOf(block)) {
          if (!isMatching(block)) wrong ??= offset + at;
          continue;
        }
        await writeFully(copy, bytes.subarray(unwritten, at), offset + unwritten);
        unwritten = at + size;
      }
      await writeFully(copy, bytes.subarray(unwritten), offset + unwritten);
    }
    await copy.truncate((await file.stat()).size);
    await copy.sync();
  });
  return wrong;
}

async function withBoth(
  from: string,
  to: string,
  flags: 'w' | 'r+',
  work: (file: FileHandle, copy: FileHandle) => Promise<void>,
): Promise<void> {
  const file = await open(from, 'r');
  try {
    const copy = await open(to, flags, 0o600);
    await work(file, copy).finally(() => copy.close());
  } finally {
    await file.close();
  }
}

/** One write may take a part only; the next one says why. @throws ENOSPC, EIO, … */
async function writeFully(file: FileHandle, bytes: Buffer, offset: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done);
    if (bytesWritten === 0) throw new Error('a write to the snapshot took nothing');
    done += bytesWritten;
  }
}

function digestOf(block: Buffer): string {
  return createHash('sha256').update(block).digest('base64');
}
