import { readFile, rename, writeFile } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import type { Pool } from '../operations/operation.ts';
import type { RunEntry } from './run-log.ts';

/** How far one job is in this run. */
export interface JobProgress {
  tasks: number;
  /** Targets that were complete before this run began: an earlier one of the round has them. */
  before: number;
  done: number;
  failed: number;
  /** Of the failed ones, those whose operation the key may not use. */
  forbidden: number;
  /** The first three of the failed ones. */
  failures: { target: string; reason: string }[];
  pages: number;
  records: number;
  /** Attempts, of which so many were not a request's first. */
  requests: number;
  retries: number;
  credits: number;
  /** Why it was left out of this run, or null. */
  leftOut: string | null;
  /** File, line and reason of each line of its target file that is no target: the first 20, and how many more. */
  targetsLeftOut: string[];
}

/** One job of a run at work. */
export interface LiveJob extends JobProgress {
  /** Whether its targets are known. */
  planned: boolean;
  /** How much of it is done, 0 to 1. */
  share: number;
  /** Whose limit it shares; null: not known yet. */
  pool: Pool | null;
  /** Requests a second now, and what the limit allows; null: nothing limits. */
  rps: number;
  limitRps: number | null;
  /** Null: nobody knows yet, or it is done. */
  etaSeconds: number | null;
}

/** What a run is doing besides counting. */
export interface RunActivity {
  /** What it does where it does not crawl, as `publishing`; null while it crawls. */
  stage: string | null;
  /** Unix ms until which nothing is asked, because the API said so with Retry-After; in the past: it is asked. */
  heldUntil: number;
  /** Unix ms until which nothing is asked, because the API did not answer. */
  restsUntil: number;
  inFlight: number;
  stopping: boolean;
}

/** A run that crawls, or has not begun to. */
export const idle: RunActivity = { stage: null, heldUntil: 0, restsUntil: 0, inFlight: 0, stopping: false };

/** `data/run.json`: the run that is at work, every few seconds. */
export interface RunState {
  run: string;
  pid: number;
  started_at: string;
  updated_at: string;
  requests: number;
  credits: number;
  jobs: Record<string, LiveJob>;
  activity: RunActivity;
}

/** Only a display, so it never fails: a full disk is the landing log's to report. */
export async function writeRunState(
  file: string,
  state: Omit<RunState, 'pid' | 'updated_at'>,
): Promise<void> {
  const text = JSON.stringify({ ...state, pid: process.pid, updated_at: new Date().toISOString() });
  await writeFile(`${file}.tmp`, `${text}\n`, { mode: 0o600 })
    .then(() => rename(`${file}.tmp`, file))
    .catch(() => undefined);
}

/** The state of the last run, when that has not ended and its process is alive. */
export async function readRunning(folder: DataFolder, last: RunEntry | undefined): Promise<RunState | null> {
  if (last === undefined || last.finishedAt !== null) return null;
  try {
    const state = JSON.parse(await readFile(folder.runState, 'utf8')) as RunState;
    process.kill(state.pid, 0);
    return state.run === last.run ? state : null;
  } catch {
    // No such file or no such process: the run was killed.
    return null;
  }
}
