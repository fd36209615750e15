import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { listPages, verifySegment } from './reader.ts';
import { recordFile } from './segment-files.ts';

/**
 * Writes the lines of some records of a segment to a file, in the segment's order, and verifies the pages that it reads. The
 * caller has verified the page lines.
 * @throws DamagedLanding
 * @param wanted numbers of records in their page, ascending, by the page's `end_offset`
 */
export async function pickRecords(
  dir: string,
  segment: number,
  wanted: ReadonlyMap<number, readonly number[]>,
  to: string,
): Promise<void> {
  const source = await open(recordFile(dir, segment), 'r').catch(async (error) => {
    await verifySegment(dir, segment);
    throw error;
  });
  const target = await open(to, 'wx', 0o600);
  try {
    let start = 0;
    let buffer = Buffer.alloc(0);
    for (const { end_offset: end, crc32: sum } of await listPages(dir, segment)) {
      const numbers = wanted.get(end);
      // A page without records ends where the one before it does.
      if (numbers !== undefined && end > start) {
        if (buffer.length < end - start) buffer = Buffer.allocUnsafeSlow(end - start);
        const { bytesRead } = await source.read(buffer, 0, end - start, start);
        if (bytesRead !== end - start || crc32(buffer.subarray(0, bytesRead)) !== sum) {
          await verifySegment(dir, segment);
          throw new Error(`segment ${segment} is not what its page lines say`);
        }
        await target.appendFile(pickLines(buffer.subarray(0, bytesRead), numbers));
      }
      start = end;
    }
  } finally {
    await target.close();
    await source.close();
  }
}

/** Lines of a page by their numbers (from 0, ascending), each with its newline. Records contain no newlines. */
export function pickLines(page: Buffer, numbers: readonly number[]): Buffer {
  const lines: Buffer[] = [];
  let [from, n] = [0, 0];
  for (const number of numbers) {
    for (; n < number; n += 1) from = page.indexOf(10, from) + 1;
    const end = page.indexOf(10, from) + 1;
    if (end === 0) throw new Error(`a page has no record ${number}`);
    lines.push(page.subarray(from, end));
    [from, n] = [end, n + 1];
  }
  return Buffer.concat(lines);
}
