import { pipeline } from 'node:stream/promises';
import { noteResult } from '../json-output.ts';

/**
 * Writes pieces to stdout, no faster than they are read. A reader that has seen enough (`| head`) ends it without
 * an error.
 * @param signal ends waiting for one that does not read
 */
export async function writeStdout(
  pieces: AsyncIterable<string | Buffer> | Iterable<string | Buffer>,
  signal?: AbortSignal,
) {
  noteResult();
  try {
    await pipeline(pieces, process.stdout, { end: false, ...(signal && { signal }) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
