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

/** Requests that a crawl did not need. They cost nothing and count as no attempt. */
export interface SavedEntry {
  at: string;
  operation: string;
  pool: Operation['pool'];
  credits: 0;
  outcome: 'saved';
  /** How many. */
  saved: number;
}

/** The attempts of a past run with one operation on one day, summed in one line (sum-requests.ts). */
export interface SumEntry {
  run: string;
  /** Time of the last attempt. */
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
  /** Writes one attempt to the OS before it returns, so that a killed process accounts for every answer. */
  add(entry: AttemptEntry): void;
  /** Records requests that a crawl did not need. */
  addSaved(operation: Pick<Operation, 'name' | 'pool'>, saved: number): void;
  close(): void;
}

/** Opens `data/requests.ndjson` for appending. Lines are not buffered, because a request takes a millisecond at least. */
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

/** Cuts after the last whole line: a kill may leave half a line, a power loss zeros. Their attempts are lost. */
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

/** What runs spent. */
export interface Spent {
  /** Attempts. */
  requests: number;
  credits: number;
  /** Requests that were not needed. */
  saved: number;
}

/** Credits that all runs spent since a moment (Unix ms). */
export async function sumCredits(path: string, since: number): Promise<number> {
  return (await sumRequests(path, since)).credits;
}

/** What all runs spent since a moment (Unix ms). */
export async function sumRequests(path: string, since: number): Promise<Spent> {
  const spent = { requests: 0, credits: 0, saved: 0 };
  const from = new Date(since).toISOString();
  for await (const entry of readRequestLog(path)) if (entry.at >= from) addEntry(spent, entry);
  return spent;
}

/** What each run spent. */
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
 * Reads every line, oldest first; none when there is no log. Damaged lines are skipped as torn ones are: their cost is
 * unknown, which is no reason to stop every run.
 */
export async function* readRequestLog(path: string): AsyncGenerator<RequestEntry> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    let before: string | null = null;
    // The last line may be half written, by a run that was killed or is at work, and does not count yet.
    for await (const line of lines) {
      if (before !== null) yield* parseEntry(before);
      before = line;
    }
    if (before !== null && (await endsWithNewline(path))) yield* parseEntry(before);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Parses a line; returns no entry for one that is damaged. */
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
 * Lists runs whose last line is older than a moment (Unix ms). Once a snapshot has their sums, their lines can be removed
 * without changing the cost of any other run or billing month.
 */
export async function listOldRequests(path: string, before: number): Promise<ReadonlySet<string>> {
  const from = new Date(before).toISOString();
  const last = new Map<string, string>();
  for await (const { run, at } of readRequestLog(path)) {
    const latest = last.get(run);
    if (latest === undefined || latest < at) last.set(run, at);
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
