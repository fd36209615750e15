import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

/** Bytes of each of the three headers that a DuckDB file begins with. */
const headerBytes = 4096;

/** Bytes read at once. Reading single blocks of 64 KiB takes longer than checking them. */
const readBytes = 2 << 20;

/** The block sizes that DuckDB allows, bytes: powers of two, of which `readBytes` is a multiple. */
const blockSizes = [16n, 32n, 64n, 128n, 256n].map((kibibytes) => kibibytes * 1024n);

/**
 * Verifies the checksum of every header and block of a DuckDB file that nobody has open for writing, in about a second a GB.
 * DuckDB itself verifies only the blocks that it reads, so damage that nobody has read yet would be copied over a sound snapshot.
 * A free block may hold anything, so a wrong checksum is no proof of damage: have DuckDB read the tables (`readTables`).
 *
 * Format: https://duckdb.org/docs/stable/internals/storage; a block is its checksum (8 bytes) and the bytes that it covers.
 * @returns offset of the first that does not match, or null
 */
export async function findWrongChecksum(path: string): Promise<number | null> {
  const file = await open(path, 'r');
  try {
    for await (const { offset, bytes, size, isWhole } of readBlocks(file)) {
      if (!isWhole) return offset;
      for (let at = 0; at < bytes.length; at += size)
        if (!isMatching(bytes.subarray(at, at + size))) return offset + at;
    }
    return null;
  } finally {
    await file.close();
  }
}

/** Adjacent parts of a database file, each with its own checksum. */
export interface Blocks {
  offset: number;
  /** Overwritten when the next but one is read. */
  bytes: Buffer;
  /** Bytes of each part. */
  size: number;
  /** Whether the last part is complete: false if the file ends within it. */
  isWhole: boolean;
}

/** Reads the three headers of a DuckDB file, then its blocks, many at a time; the next ones are read ahead. */
export async function* readBlocks(file: FileHandle): AsyncGenerator<Blocks> {
  const { size: end } = await file.stat();
  const read = async (into: Buffer, offset: number, length: number, size: number): Promise<Blocks> => {
    const bytes = into.subarray(0, await readFully(file, into, length, offset));
    const isWhole = bytes.length === Math.min(length, end - offset) && bytes.length % size === 0;
    return { offset, bytes, size, isWhole };
  };
  let [now, next] = [Buffer.alloc(readBytes), Buffer.alloc(readBytes)];
  const headers = await read(now, 0, 3 * headerBytes, headerBytes);
  const size = readBlockBytes(now);
  let blocks: Blocks | null = headers;
  for (let offset = 3 * headerBytes; blocks !== null; offset += readBytes) {
    const following: Promise<Blocks> | null = offset < end ? read(next, offset, readBytes, size) : null;
    // A caller that stops early does not wait for it.
    following?.catch(() => undefined);
    yield blocks;
    blocks = await following;
    [now, next] = [next, now];
  }
}

/** @returns bytes read: fewer than `length` only at the end of the file. A single read may return fewer; the next one shows why. */
async function readFully(file: FileHandle, into: Buffer, length: number, offset: number): Promise<number> {
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(into, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

/**
 * Reads the block size from the first database header: checksum, iteration, meta block, free list, block count, block size. A damaged
 * header has an impossible one: then the size of a header is returned.
 */
function readBlockBytes(headers: Buffer): number {
  const size = headers.readBigUInt64LE(headerBytes + 5 * 8);
  return blockSizes.includes(size) ? Number(size) : headerBytes;
}

/** DuckDB's factor, 0xbf58476d1ce4e5b9, in parts: JavaScript multiplies 32 bits exactly, not 64. */
const [high, low] = [0xbf58476d, 0x1ce4e5b9] as const;
const [lowHigh, lowLow] = [low >>> 16, low & 0xffff] as const;

/** Whether a header's or block's first 8 bytes are the checksum of the rest: 5381 xor each word times the factor, modulo 2^64. */
export function isMatching(bytes: Buffer): boolean {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let sumLow = 5381;
  let sumHigh = 0;
  for (let n = 2; n < words.length; n += 2) {
    const word = words[n] as number;
    const [wordHigh, wordLow] = [word >>> 16, word & 0xffff];
    const cross = wordLow * lowHigh;
    const other = wordHigh * lowLow;
    const carry = ((wordLow * lowLow) >>> 16) + (cross & 0xffff) + (other & 0xffff);
    const upper = wordHigh * lowHigh + (cross >>> 16) + (other >>> 16) + (carry >>> 16);
    sumLow ^= Math.imul(word, low);
    sumHigh ^= upper + Math.imul(word, high) + Math.imul(words[n + 1] as number, low);
  }
  return sumLow >>> 0 === words[0] && sumHigh >>> 0 === words[1];
}

/** SHA-256 of each header and block of a database file, by its offset. */
export type BlockDigests = ReadonlyMap<number, string>;

/** Bytes written before a sync, because syncs of the crawl meanwhile wait for all of them. */
const syncBytes = 64 << 20;

/** Copies a database file that nobody writes. The copy is durable, its name is not. @throws the signal's abort reason */
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
 * Updates the copy of a database file's former state, whose digests are given, to the file, which nobody may have open for
 * writing: reads the file and writes what differs.
 * @returns offset of the first part written whose checksum does not match, or null
 */
export async function updateCopy(from: string, to: string, former: BlockDigests): Promise<number | null> {
  let wrong: number | null = null;
  await withBoth(from, to, 'r+', async (file, copy) => {
    for await (const { offset, bytes, size, isWhole } of readBlocks(file)) {
      if (!isWhole) wrong ??= offset;
      // Adjacent blocks are written together.
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

/** A single write may write a part only; the next one shows why. @throws ENOSPC, EIO, … */
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
