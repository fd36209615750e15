import { readFile, rename, writeFile } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import type { JobResult as JobProgress } from '../library-types.ts';
import type { Pool } from '../operations/operation.ts';
import type { RunEntry } from './run-log.ts';

export type { JobProgress };

/** One job of a running run. */
export interface LiveJob extends JobProgress {
  /** Whether its targets are known. */
  planned: boolean;
  /** How much of the job is done, 0 to 1. */
  share: number;
  /** The pool whose limit it shares; null: not known yet. */
  pool: Pool | null;
  /** Requests a second now. */
  rps: number;
  /** Requests a second that the pool allows; null: no limit. */
  limitRps: number | null;
  /** Null: unknown, or the job is done. */
  etaSeconds: number | null;
}

/** What a run is doing. */
export interface RunActivity {
  /** What it does outside a crawl, such as `publishing`; null while it crawls. */
  stage: string | null;
  /** Unix ms until which no request is sent, because of a Retry-After; in the past: requests are sent. */
  heldUntil: number;
  /** Unix ms until which no request is sent, because the API did not answer. */
  restsUntil: number;
  inFlight: number;
  stopping: boolean;
}

/** The activity of a run that crawls, or has not begun to. */
export const idle: RunActivity = { stage: null, heldUntil: 0, restsUntil: 0, inFlight: 0, stopping: false };

/** `data/run.json`: the running run, written every few seconds. */
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

/** Writes `data/run.json`. Never fails, because it is only a display: the landing log reports a full disk. */
export async function writeRunState(
  file: string,
  state: Omit<RunState, 'pid' | 'updated_at'>,
): Promise<void> {
  const text = JSON.stringify({ ...state, pid: process.pid, updated_at: new Date().toISOString() });
  await writeFile(`${file}.tmp`, `${text}\n`, { mode: 0o600 })
    .then(() => rename(`${file}.tmp`, file))
    .catch(() => undefined);
}

/** The state of the last run, if it has not ended and its process is alive. */
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
