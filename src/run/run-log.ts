import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../landing/segment-files.ts';
import type { Accepted } from '../publish/accepted.ts';
import type { MergeCounts } from '../publish/merge-table.ts';

/** One run as `data/runs.ndjson` tells it; without `finishedAt` it was killed or is still running. */
export interface RunEntry {
  run: string;
  verb: string;
  /** Names of the jobs it was for. */
  jobs: string[];
  /** Folder of their files, absolute; runs of older versions did not note it. */
  jobsDir?: string;
  /** What the guards were told to let pass, where they were. */
  accept?: Partial<Accepted>;
  /** `source move`: the origins that the folder is bound to from then on, by transport. */
  moved?: Readonly<Record<string, string>>;
  /** Jobs that it began a new round of, although their last one was not over. */
  begins?: string[];
  /** Jobs, and targets as `job/target`, of which it forgot how far they were. */
  reset?: string[];
  /** Operations of which it found that a short page is not the end (`api.short_page_ends`). */
  shortPages?: string[];
  startedAt: string;
  finishedAt: string | null;
  exitCode: number | null;
  stoppedBy: string | null;
  /** What was wrong with what it received, where something was. */
  found?: Found;
  /** What it did; runs of older versions, and those that were killed, did not note it. */
  did?: Did;
}

/** How far a job came in a run. */
export interface DoneJob {
  tasks: number;
  done: number;
  failed: number;
  pages: number;
  records: number;
}

/** What a run asked for and published, by job and by table. */
export interface Did {
  jobs: Readonly<Record<string, DoneJob>>;
  tables: Readonly<Record<string, MergeCounts>>;
}

/** What a run notes of itself as it ends. */
export interface Noted {
  found?: Found;
  did?: Did;
}

/** A job, or a line of its target file, that a run left out. */
export interface LeftOut {
  job: string;
  problem: string;
}

/** What a run found wrong with what it received. */
export interface Found {
  /** Records with something that did not fit. */
  quarantined: number;
  /** Rows of answers older than what the tables have. */
  stale: number;
  /** What guards and audits refused, in words. */
  refused: readonly string[];
  /** Jobs, and lines of target files, that it could not read. */
  leftOut?: readonly LeftOut[];
  /** Audits of the project that kept the snapshot as it was, in words. */
  audits?: readonly string[];
}

type Line =
  | {
      run: string;
      verb: string;
      jobs: string[];
      jobs_dir?: string;
      accept?: Partial<Accepted>;
      moved?: Readonly<Record<string, string>>;
      /** How older versions said `accept: {vanished}`. */
      accept_vanished?: readonly string[];
      started_at: string;
    }
  | { run: string; begins: string[] }
  | { run: string; reset: string[] }
  | { run: string; short_pages: string[] }
  | {
      run: string;
      finished_at: string;
      exit_code: number;
      stopped_by: string | null;
      found?: Found;
      did?: Did;
    };

/**
 * A run's name: its start in UTC to the millisecond and a random part. It sorts behind the last run's whatever the
 * clock says: what came later is decided by names.
 */
export function makeRunId(now: Date, last: string | null): string {
  const begin = new Date(Math.max(now.getTime(), readTime(last ?? '') + 1));
  return `${begin.toISOString().replace(/[-:.]/g, '')}-${randomBytes(3).toString('hex')}`;
}

/** Start of a run by its name, Unix ms; 0 when it is no such name. */
function readTime(run: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/.exec(run) ?? [];
  const [year, month, ...rest] = parts.map(Number);
  return year === undefined || month === undefined ? 0 : Date.UTC(year, month - 1, ...rest);
}

/** Every run in the order they began. A torn line is a run that was killed as it began or ended. */
export async function readRunLog(path: string): Promise<RunEntry[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const runs = new Map<string, RunEntry>();
  for (const line of text.split('\n').slice(0, -1)) {
    const entry = parseLine(line);
    if (entry === null) continue;
    if ('verb' in entry) {
      const { run, verb, jobs, jobs_dir: jobsDir, accept_vanished: vanished, started_at } = entry;
      const accept = entry.accept ?? (vanished === undefined ? undefined : { vanished });
      runs.set(run, {
        run,
        verb,
        jobs,
        ...(jobsDir === undefined ? {} : { jobsDir }),
        ...(accept === undefined ? {} : { accept }),
        ...(entry.moved === undefined ? {} : { moved: entry.moved }),
        startedAt: started_at,
        finishedAt: null,
        exitCode: null,
        stoppedBy: null,
      });
    } else if ('short_pages' in entry) {
      const run = runs.get(entry.run);
      if (run !== undefined) run.shortPages = [...(run.shortPages ?? []), ...entry.short_pages];
    } else if ('reset' in entry) {
      const run = runs.get(entry.run);
      if (run !== undefined) run.reset = entry.reset;
    } else {
      const run = runs.get(entry.run);
      if (run !== undefined && 'begins' in entry) run.begins = [...(run.begins ?? []), ...entry.begins];
      else if (run !== undefined && 'finished_at' in entry)
        Object.assign(run, {
          finishedAt: entry.finished_at,
          exitCode: entry.exit_code,
          stoppedBy: entry.stopped_by,
          ...(entry.found === undefined ? {} : { found: entry.found }),
          ...(entry.did === undefined ? {} : { did: entry.did }),
        });
    }
  }
  return [...runs.values()];
}

/** Verbs that neither crawl nor publish what was crawled: how one of these ended says nothing of the tables. */
const besidesTables = new Set(['state', 'source', 'clean', 'forget']);

/** The last run that crawled or published, or was to; null: none did. */
export function lastOfTables(runs: readonly RunEntry[]): RunEntry | null {
  return runs.findLast(({ verb }) => !besidesTables.has(verb)) ?? null;
}

/** What the last run of each job left out. Pure. */
export function listLeftOut(runs: readonly RunEntry[]): LeftOut[] {
  const last = new Map(runs.flatMap((run) => run.jobs.map((job) => [job, run])));
  return [...last].flatMap(([job, { found }]) => (found?.leftOut ?? []).filter((one) => one.job === job));
}

/** What each run was told to accept. */
export async function readAcceptedBy(path: string): Promise<ReadonlyMap<string, Partial<Accepted>>> {
  return new Map((await readRunLog(path)).map(({ run, accept = {} }) => [run, accept]));
}

function parseLine(text: string): Line | null {
  try {
    const line: unknown = JSON.parse(text);
    return typeof line === 'object' ? (line as Line | null) : null;
  } catch {
    // Half a line that a kill left.
    return null;
  }
}

/** Appends one line, durable when it resolves. Half a line that a kill left gets its end first. */
export async function appendRunLog(path: string, line: Line): Promise<void> {
  const handle = await open(path, 'a+', 0o600);
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const isTorn = size > 0 && buffer[0] !== 10;
    await handle.appendFile(`${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    await handle.sync();
    // A new file's name has to survive as well: without it the round would begin again.
    if (size === 0) await syncDirectory(dirname(path));
  } finally {
    await handle.close();
  }
}

/** Operations of which a run found that a short page is not the end, since the source last moved. Pure. */
export function listRefuted(runs: readonly RunEntry[]): ReadonlySet<string> {
  const moved = runs.findLastIndex(({ moved = {} }) => Object.hasOwn(moved, 'rpc'));
  return new Set(runs.slice(Math.max(0, moved)).flatMap(({ shortPages = [] }) => shortPages));
}

/** Exit codes after which every target was complete or failed: the next run begins a new round. */
const roundEnds = new Set([0, 3, 4]);

/**
 * The first run of a job's unfinished round, or null when the next run begins a new one. A run that stopped early, failed
 * or was killed leaves its round open: what it finished is not crawled again.
 */
export function openRound(runs: readonly RunEntry[], job: string): string | null {
  return readRounds(runs, job).open;
}

/**
 * The first run of the last round that a job finished, every target tried; null where no such round is known.
 * @param atMost only rounds that began with this run or an earlier one; null: all
 */
export function lastRound(runs: readonly RunEntry[], job: string, atMost: string | null): string | null {
  const { finished } = readRounds(runs, job);
  return finished.findLast((first) => atMost === null || first <= atMost) ?? null;
}

/** A job's rounds, each by its first run: those it finished, oldest first, and the one that is open. */
function readRounds(runs: readonly RunEntry[], job: string): { finished: string[]; open: string | null } {
  const finished: string[] = [];
  let open: string | null = null;
  for (const { run, jobs, begins, exitCode } of runs) {
    if (!jobs.includes(job)) continue;
    if (open !== null && begins?.includes(job)) {
      finished.push(open);
      open = null;
    }
    open ??= run;
    if (exitCode === null || !roundEnds.has(exitCode)) continue;
    finished.push(open);
    open = null;
  }
  return { finished, open };
}

/**
 * Runs that began before a moment (Unix ms) and that no job's unfinished round needs. The last run, moves of the source and
 * what was found out about it stay. Pure.
 */
export function listOldRuns(runs: readonly RunEntry[], before: number): ReadonlySet<string> {
  const from = new Date(before).toISOString();
  const jobs = new Set(runs.flatMap((entry) => entry.jobs));
  const needed = [...jobs].flatMap((job) => openRound(runs, job) ?? []);
  const first = [...needed, runs.at(-1)?.run ?? ''].sort()[0] as string;
  // A build that is rebuilt has to know where its source moved to.
  const old = runs.filter(
    ({ run, startedAt, moved, shortPages }) =>
      startedAt < from && run < first && moved === undefined && shortPages === undefined,
  );
  return new Set(old.map(({ run }) => run));
}
