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
import type { AttemptEntry } from '../api/client-state.ts';
import type { Operation } from '../operations/operation.ts';

/** A line that is no attempt: requests that a crawl did not need. It cost nothing and counts as none. */
export interface SavedEntry {
  at: string;
  operation: string;
  pool: Operation['pool'];
  credits: 0;
  outcome: 'saved';
  /** How many. */
  saved: number;
}

/** What a run that has ended asked of one operation on one day, in the place of its attempts (sum-requests.ts). */
export interface SumEntry {
  run: string;
  /** The last of them. */
  at: string;
  operation: string;
  pool: Operation['pool'];
  outcome: 'sum';
  requests: number;
  retries: number;
  throttles: number;
  failures: number;
  credits: number;
  saved: number;
  bytes: number;
  /** Milliseconds; null where no request was made. */
  latency: { p50: number; p95: number; max: number } | null;
}

/** One line of `data/requests.ndjson`. */
export type RequestEntry = ({ run: string } & (AttemptEntry | SavedEntry)) | SumEntry;

export interface RequestLog {
  /** Adds one attempt. With the kernel when it returns, so a killed process accounts for every answer. */
  add(entry: AttemptEntry): void;
  /** Notes requests that a crawl did not need. */
  addSaved(operation: Pick<Operation, 'name' | 'pool'>, saved: number): void;
  close(): void;
}

/** Opens `data/requests.ndjson` for appending. One line a request, which takes a millisecond at least: written at once. */
export function openRequestLog(path: string, run: string): RequestLog {
  const file = openSync(path, 'a+', 0o600);
  cutTornLine(file);
  const write = (entry: AttemptEntry | SavedEntry) => {
    writeSync(file, `${JSON.stringify({ run, ...entry })}\n`);
  };
  return {
    add: write,
    addSaved: ({ name, pool }, saved) =>
      write({ at: new Date().toISOString(), operation: name, pool, credits: 0, outcome: 'saved', saved }),
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

/** What a run, or all of them, asked for. */
export interface Spent {
  /** Attempts. */
  requests: number;
  credits: number;
  /** Requests that were not needed. */
  saved: number;
}

/** Credits spent since a moment (Unix ms), from the attempts of all runs. */
export async function sumCredits(path: string, since: number): Promise<number> {
  return (await sumRequests(path, since)).credits;
}

/** What all runs have asked for since a moment (Unix ms). */
export async function sumRequests(path: string, since: number): Promise<Spent> {
  const spent = { requests: 0, credits: 0, saved: 0 };
  const from = new Date(since).toISOString();
  for await (const entry of readRequestLog(path)) if (entry.at >= from) addEntry(spent, entry);
  return spent;
}

/** What each run has asked for. */
export async function sumRequestsByRun(path: string): Promise<Map<string, Spent>> {
  const runs = new Map<string, Spent>();
  for await (const entry of readRequestLog(path)) {
    const spent = runs.get(entry.run) ?? { requests: 0, credits: 0, saved: 0 };
    runs.set(entry.run, spent);
    addEntry(spent, entry);
  }
  return runs;
}

function addEntry(spent: Spent, entry: RequestEntry): void {
  if (entry.outcome === 'saved') {
    spent.saved += entry.saved;
  } else if (entry.outcome === 'sum') {
    spent.requests += entry.requests;
    spent.credits += entry.credits;
    spent.saved += entry.saved;
  } else {
    spent.requests += 1;
    spent.credits += entry.credits;
  }
}

/**
 * Every line, oldest first; none when there is no log. A line that is none, on a damaged disk, is passed over as a torn
 * one is: what it cost is not known, and no reason to stop every run.
 */
export async function* readRequestLog(path: string): AsyncGenerator<RequestEntry> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    let before: string | null = null;
    // The last line may be half written, by a run that was killed or is at work: it does not count yet.
    for await (const line of lines) {
      if (before !== null) yield* parseEntry(before);
      before = line;
    }
    if (before !== null && (await endsWithNewline(path))) yield* parseEntry(before);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The entry that a line is; none where it is no whole one. */
export function parseEntry(line: string): RequestEntry[] {
  try {
    const entry = JSON.parse(line) as Partial<RequestEntry> | null;
    const isWhole = [entry?.run, entry?.at, entry?.operation].every((value) => typeof value === 'string');
    return isWhole && Number.isSafeInteger(entry?.credits) ? [entry as RequestEntry] : [];
  } catch {
    return [];
  }
}

/**
 * Runs whose last line is older than a moment (Unix ms): their lines can go when a snapshot has their sums, without
 * changing what any other run or billing month is said to have cost.
 */
export async function listOldRequests(path: string, before: number): Promise<ReadonlySet<string>> {
  const from = new Date(before).toISOString();
  const last = new Map<string, string>();
  for await (const { run, at } of readRequestLog(path)) {
    const known = last.get(run);
    if (known === undefined || known < at) last.set(run, at);
  }
  return new Set([...last].flatMap(([run, at]) => (at < from ? run : [])));
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
export function repairRequestLog(path: string): void {
  const file = openSync(path, 'a+', 0o600);
  cutTornLine(file);
  closeSync(file);
}
