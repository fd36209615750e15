import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LandingLine } from './page-line.ts';
import { pageFile } from './segment-files.ts';

/** A line of a page file that ends in a newline. */
export interface ReadLine {
  /** From 1. */
  number: number;
  /** Byte offset, and bytes without the newline. */
  start: number;
  length: number;
  /** Null: it is not as it was written. */
  line: LandingLine | { kind: 'sealed' } | null;
}

/** Every whole line of a segment's page file. Bytes behind the last newline are none. */
export async function* readPageLines(dir: string, segment: number): AsyncGenerator<ReadLine> {
  let number = 0;
  for await (const { text, start } of wholeLines(pageFile(dir, segment))) {
    number += 1;
    yield { number, start, length: text.length, line: parseLine(text) };
  }
}

/**
 * Lines that end in a newline, with their byte offset. Not `readline`: it also breaks at U+2028, which JSON leaves
 * as it is, and gives a last line without its newline, which may be cut in the middle of a number.
 */
async function* wholeLines(file: string): AsyncGenerator<{ text: Buffer; start: number }> {
  let rest = Buffer.alloc(0);
  let start = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10, from)) {
      yield { text: rest.subarray(from, end), start: start + from };
      from = end + 1;
    }
    rest = rest.subarray(from);
    start += from;
  }
}

const kinds: ReadonlySet<unknown> = new Set(['page', 'ids', 'failed', 'accepted', 'forgotten', 'sealed']);

function parseLine(text: Buffer): ReadLine['line'] {
  if (!isAsWritten(text)) return null;
  try {
    const line = JSON.parse(text.toString('utf8')) as ReadLine['line'];
    return typeof line === 'object' && line !== null && kinds.has(line.kind) ? line : null;
  } catch {
    return null;
  }
}

/** `line` with the checksum of its text as its last member. @param line the JSON text of an object */
export function addLineChecksum(line: string): string {
  return `${line.slice(0, -1)},"line_crc32":${crc32(line)}}`;
}

const closing = Buffer.from('}');

/** False where a line's checksum is another one. Lines of older versions have none. */
function isAsWritten(text: Buffer): boolean {
  const [member, sum] = /,"line_crc32":(\d{1,10})\}$/.exec(text.toString('latin1', text.length - 32)) ?? [];
  if (member === undefined) return true;
  return crc32(closing, crc32(text.subarray(0, text.length - member.length))) === Number(sum);
}
