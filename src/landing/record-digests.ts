import { hash } from 'node:crypto';
import type { LandingRecord } from './landing-record.ts';
import type { PageLine } from './page-line.ts';

/** Bytes of a digest: the first half of a SHA-256. */
export const digestBytes = 16;

/** Most records of a page whose digests its line has: 2 MB of it (`maxEnvelopeBytes`). */
const maxDigests = 100_000;

/**
 * Shapes of which no audit compares more than keys with what was asked for: a record says the same in every answer. Those of
 * other shapes are told by the question, too.
 */
const aloneShapes: ReadonlySet<string> = new Set(['asset']);

/** Bytes that are copied together at most, to be hashed in one call; longer records take a buffer of their own. */
const scratchBytes = 1 << 20;
const scratch = Buffer.allocUnsafeSlow(scratchBytes);

/**
 * One digest a record, in order and in base64, by which a text that came before is told: of the record's bytes, of its key
 * and refusal where it has one, and of what else decides the row that becomes of it.
 * @returns null for a page of too many records
 */
export function digestRecords(
  page: Pick<PageLine, 'shape' | 'carries' | 'params'>,
  records: readonly LandingRecord[],
): string | null {
  if (records.length > maxDigests) return null;
  const question = aloneShapes.has(page.shape) ? null : page.params;
  const salt = Buffer.from(JSON.stringify([page.shape, [...page.carries].sort(), question]));
  const digests = Buffer.allocUnsafe(records.length * digestBytes);
  // As a string of bytes: a third less than as a buffer of its own.
  for (const [n, record] of records.entries())
    digests.write(hash('sha256', joinText(salt, record), 'binary'), n * digestBytes, digestBytes, 'binary');
  return digests.toString('base64');
}

/** What is hashed of a record; stands in the scratch buffer until the next call. */
function joinText(salt: Buffer, { source, start, end, key, refusal }: LandingRecord): Buffer {
  const plain = key === undefined && refusal === undefined;
  const head = plain ? '\n' : `${JSON.stringify([key, refusal])}\n`;
  const headBytes = plain ? 1 : Buffer.byteLength(head);
  const length = salt.length + headBytes + end - start;
  const joined = length <= scratchBytes ? scratch : Buffer.allocUnsafeSlow(length);
  salt.copy(joined);
  joined.write(head, salt.length);
  source.copy(joined, salt.length + headBytes, start, end);
  return joined.subarray(0, length);
}
