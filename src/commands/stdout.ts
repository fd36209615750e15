import { pipeline } from 'node:stream/promises';

/**
 * Writes pieces to stdout, no faster than they are read. A reader that has seen enough (`| head`) ends it without
 * an error.
 */
export async function writeStdout(pieces: AsyncIterable<string | Buffer> | Iterable<string | Buffer>) {
  try {
    await pipeline(pieces, process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
