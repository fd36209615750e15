import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { type Spent, sumRequestsByRun } from './request-log.ts';
import { type Did, type Found, type RunEntry, readRunLog } from './run-log.ts';
import { readRunning } from './run-state.ts';

/** One run and its cost. */
export interface RunSummary extends Spent {
  run: string;
  verb: string;
  jobs: string[];
  /** ISO times. */
  startedAt: string;
  finishedAt: string | null;
  /** How long it took, or has taken until now; null when it was killed. */
  seconds: number | null;
  state: 'ended' | 'running' | 'killed';
  exitCode: number | null;
  /** Why it stopped early or failed; null: it did neither. */
  stoppedBy: string | null;
  /** What was wrong with what it received; absent where nothing was. */
  found?: Found;
  /** What it crawled and published; absent in those that were killed. */
  did?: Did;
}

/**
 * Reads the newest runs, newest first, from the logs, which also have those that published nothing.
 * @throws UsageError when nothing was ever run here
 */
export async function readRuns(folder: DataFolder, limit: number, now: number): Promise<RunSummary[]> {
  const runs = await readRunLog(folder.runs);
  if (runs.length === 0)
    throw new UsageError(`nothing was run in ${folder.root} yet`, 'Begin with `ledgerlake run`.');
  const isRunning = (await readRunning(folder, runs.at(-1))) !== null;
  const spent = await sumRequestsByRun(folder.requests);
  const latest = runs.slice(-limit).reverse();
  return latest.map((entry, n) => ({
    ...describeRun(entry, isRunning && n === 0, now),
    ...(spent.get(entry.run) ?? { requests: 0, credits: 0, saved: 0 }),
  }));
}

function describeRun(entry: RunEntry, isRunning: boolean, now: number): Omit<RunSummary, keyof Spent> {
  const until = entry.finishedAt === null ? (isRunning ? now : null) : Date.parse(entry.finishedAt);
  return {
    ...entry,
    seconds: until === null ? null : (until - Date.parse(entry.startedAt)) / 1000,
    state: entry.finishedAt !== null ? 'ended' : isRunning ? 'running' : 'killed',
  };
}
