import {
  closeSync,
  createReadStream,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { AttemptEntry } from '../api/client.ts';

export interface RequestLog {
  /** Adds one attempt. With the kernel when it returns, so a killed process accounts for every answer. */
  add(entry: AttemptEntry): void;
  close(): void;
}

/** Opens `data/requests.ndjson` for appending. One line a request, which takes a millisecond at least: written at once. */
export function openRequestLog(path: string, run: string): RequestLog {
  const file = openSync(path, 'a+', 0o600);
  cutTornLine(file);
  return {
    add: (entry) => {
      writeSync(file, `${JSON.stringify({ run, ...entry })}\n`);
    },
    close: () => {
      fdatasyncSync(file);
      closeSync(file);
    },
  };
}

/**
 * A kill in the middle of a write leaves half a line, a power loss perhaps many zeros: cut after the last whole line.
 * Those attempts are not accounted for.
 */
function cutTornLine(file: number): void {
  const { size } = fstatSync(file);
  const block = Buffer.alloc(4096);
  let end = size;
  let newline = -1;
  while (newline === -1 && end > 0) {
    const from = Math.max(0, end - block.length);
    const bytes = readSync(file, block, 0, end - from, from);
    newline = block.subarray(0, bytes).lastIndexOf(10);
    end = newline === -1 ? from : from + newline + 1;
  }
  if (end < size) ftruncateSync(file, end);
}

/** Credits spent since a moment (Unix ms), from the attempts of all runs. */
export async function sumCredits(path: string, since: number): Promise<number> {
  let credits = 0;
  const from = new Date(since).toISOString();
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    let before: string | null = null;
    // The last line may be half written, by a run that was killed or is at work: it does not count yet.
    for await (const line of lines) {
      if (before !== null) credits += creditsOf(before, from);
      before = line;
    }
    if (before !== null && (await endsWithNewline(path))) credits += creditsOf(before, from);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return credits;
}

function creditsOf(line: string, from: string): number {
  const entry = JSON.parse(line) as { at: string; credits: number };
  return entry.at >= from ? entry.credits : 0;
}

async function endsWithNewline(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0] === 10;
  } finally {
    await handle.close();
  }
}

/** Cuts a torn tail; the caller holds the run lock. */
export function mendRequestLog(path: string): void {
  const file = openSync(path, 'a+', 0o600);
  cutTornLine(file);
  closeSync(file);
}
