import { createInterface } from 'node:readline/promises';
import { pipeline } from 'node:stream/promises';
import type { LedgerlakeError } from '../errors.ts';
import { noteResult } from '../json-output.ts';

/**
 * Writes pieces to stdout, no faster than they are read. A reader that closes the pipe (`| head`) is no error.
 * @param signal stops waiting for a reader
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

/**
 * Asks on the terminal before something that cannot be undone.
 * @throws `unattended` without a terminal, `declined` for any answer but yes
 */
export async function askYes(
  question: string,
  { unattended, declined }: Record<'unattended' | 'declined', LedgerlakeError>,
): Promise<void> {
  if (process.stdin.isTTY !== true) throw unattended;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close());
  if (!/^y(es)?$/i.test(answer.trim())) throw declined;
}
