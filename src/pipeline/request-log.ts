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

/** A kill in the middle of a write leaves half a line: that one attempt is not accounted for. */
function cutTornLine(file: number): void {
  const { size } = fstatSync(file);
  const tail = Buffer.alloc(Math.min(size, 4096));
  readSync(file, tail, 0, tail.length, size - tail.length);
  const whole = size - tail.length + tail.lastIndexOf(10) + 1;
  if (whole < size) ftruncateSync(file, whole);
}

/** Credits spent since a moment (Unix ms), from the attempts of all runs. */
export async function sumCredits(path: string, since: number): Promise<number> {
  let credits = 0;
  const from = new Date(since).toISOString();
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) {
      const entry = JSON.parse(line) as { at: string; credits: number };
      if (entry.at >= from) credits += entry.credits;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return credits;
}
