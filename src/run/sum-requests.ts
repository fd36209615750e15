import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { syncDirectory, syncFile } from '../landing/segment-files.ts';
import { parseEntry, type RequestEntry, type SumEntry } from './request-log.ts';

/** Up to this size a log is not worth rewriting. */
const smallBytes = 65_536;

/** Attempts of one run and operation on one day, UTC: by days, because billing months begin with a day. */
type Attempts = Omit<SumEntry, 'latency'> & { latencies: number[] };

/**
 * Replaces all attempts that a run made with an operation in a day by one line, so that reading the request log does not
 * take longer from night to night. A `call` that ends meanwhile may lose its line, and so its credits.
 * @param isSummed whether a run has ended and its attempts are in the snapshot
 */
export async function sumRequestLog(path: string, isSummed: (run: string) => boolean): Promise<void> {
  const size = await stat(path).then(
    (file) => file.size,
    () => 0,
  );
  if (size <= smallBytes) return;
  const draft = `${path}.tmp`;
  const sums = new Map<string, Attempts>();
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  await pipeline(
    async function* () {
      for await (const line of lines) {
        const [entry] = parseEntry(line);
        if (entry === undefined || entry.outcome === 'sum' || !isSummed(entry.run)) yield `${line}\n`;
        else addAttempt(sums, entry);
      }
      for (const sum of sums.values()) yield `${JSON.stringify(toLine(sum))}\n`;
    },
    createWriteStream(draft, { mode: 0o600 }),
  );
  if (sums.size === 0) return rm(draft);
  await syncFile(draft);
  await rename(draft, path);
  await syncDirectory(dirname(path));
}

function addAttempt(sums: Map<string, Attempts>, entry: Exclude<RequestEntry, SumEntry>): void {
  const { run, operation, pool, at } = entry;
  const key = `${run} ${operation} ${at.slice(0, 10)}`;
  const sum = sums.get(key) ?? {
    ...{ run, at, operation, pool, outcome: 'sum', requests: 0, retries: 0, throttles: 0, failures: 0 },
    ...{ credits: 0, saved: 0, bytes: 0, latencies: [] },
  };
  sums.set(key, sum);
  if (at > sum.at) sum.at = at;
  if (entry.outcome === 'saved') {
    sum.saved += entry.saved;
    return;
  }
  sum.requests += 1;
  sum.credits += entry.credits;
  sum.bytes += entry.bytes;
  if (entry.attempt > 1) sum.retries += 1;
  if (entry.outcome === 'throttled') sum.throttles += 1;
  if (entry.outcome !== 'ok') sum.failures += 1;
  sum.latencies.push(entry.latencyMs);
}

function toLine({ latencies, ...sum }: Attempts): SumEntry {
  const sorted = latencies.sort((a, b) => a - b);
  const latency =
    sorted.length === 0
      ? null
      : { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), max: sorted.at(-1) as number };
  return { ...sum, latency };
}

/** Interpolates between two values as DuckDB's quantile_cont does; to a tenth. */
function quantile(sorted: readonly number[], share: number): number {
  const index = (sorted.length - 1) * share;
  const [below, above] = [sorted[Math.floor(index)] as number, sorted[Math.ceil(index)] as number];
  return Math.round((below + (above - below) * (index - Math.floor(index))) * 10) / 10;
}
