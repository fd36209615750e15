import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '../landing/segment-files.ts';
import type { MergeCounts } from '../publish/merge-table.ts';

/** One run of `data/runs.ndjson`; without `finishedAt` it was killed or is still running. */
export interface RunEntry {
  run: string;
  verb: string;
  /** Names of its jobs. */
  jobs: string[];
  /** Folder of the job files, absolute; absent for verbs that read none. */
  jobsDir?: string;
  /** Ids of the refusals that it accepted; absent: none. */
  accepted?: string[];
  /** `source move`: the origins that the folder is bound to from this run on, by transport. */
  moved?: Readonly<Record<string, string>>;
  /** Jobs of which it began a new round although their last one was not over. */
  begins?: string[];
  /** Jobs, and targets as `job/target`, whose state it reset. */
  reset?: string[];
  /** How the jobs, and the targets that they have, differ from what earlier runs found. */
  targets?: TargetsChange[];
  /** Operations of which it found that a short page is not the end (`api.short_page_ends`). */
  shortPages?: string[];
  startedAt: string;
  finishedAt: string | null;
  exitCode: number | null;
  stoppedBy: string | null;
  /** What was wrong with what it received; absent where nothing was. */
  found?: Found;
  /** What it crawled and published; absent in those that were killed. */
  did?: Did;
}

/** A job whose file or targets changed; without `file` it has none any more. */
export interface TargetsChange {
  job: string;
  file?: string;
  /** As in `meta.jobs`. */
  follows?: boolean;
  is_read?: boolean;
  added?: readonly string[];
  removed?: readonly string[];
}

/** How far a job came in a run. */
export interface DoneJob {
  tasks: number;
  done: number;
  failed: number;
  pages: number;
  records: number;
}

/** What a run crawled and published, by job and by table. */
export interface Did {
  jobs: Readonly<Record<string, DoneJob>>;
  tables: Readonly<Record<string, MergeCounts>>;
}

/** What a run records of itself as it ends. */
export interface Outcome {
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
  /** Records with a value, or as a whole, in quarantine. */
  quarantined: number;
  /** Rows of answers that were older than the tables. */
  stale: number;
  /** What guards and audits refused, as sentences. */
  refused: readonly string[];
  /** Rows that are kept until a second look, as sentences. */
  waiting?: readonly string[];
  /** Jobs, and lines of target files, that could not be read. */
  leftOut?: readonly LeftOut[];
  /** Audits of the project that kept the snapshot as it was, as sentences. */
  audits?: readonly string[];
}

type Line =
  | {
      run: string;
      verb: string;
      jobs: string[];
      jobs_dir?: string;
      moved?: Readonly<Record<string, string>>;
      started_at: string;
    }
  | { run: string; begins: string[] }
  | { run: string; reset: string[] }
  | { run: string; accepted: string[] }
  | { run: string; short_pages: string[] }
  | { run: string; targets: TargetsChange[] }
  | {
      run: string;
      finished_at: string;
      exit_code: number;
      stopped_by: string | null;
      found?: Found;
      did?: Did;
    };

/**
 * A run's name: its start in UTC to the millisecond and a random part. It sorts behind the last run's even if the clock
 * went back, because names decide which run is later.
 */
export function makeRunId(now: Date, last: string | null): string {
  const begin = new Date(Math.max(now.getTime(), readTime(last ?? '') + 1));
  return `${begin.toISOString().replace(/[-:.]/g, '')}-${randomBytes(3).toString('hex')}`;
}

/** Start of a run by its name, Unix ms; 0 for another name. */
function readTime(run: string): number {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/.exec(run) ?? [];
  const [year, month, ...rest] = parts.map(Number);
  return year === undefined || month === undefined ? 0 : Date.UTC(year, month - 1, ...rest);
}

/** Reads every run, in the order they began. Torn lines, of runs that were killed, are skipped. */
export async function readRunLog(path: string): Promise<RunEntry[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const runs = new Map<string, RunEntry>();
  for (const line of text.split('\n').slice(0, -1)) addLine(runs, parseLine(line));
  return [...runs.values()];
}

function addLine(runs: Map<string, RunEntry>, line: Line | null): void {
  if (line === null) return;
  if ('verb' in line) {
    runs.set(line.run, beginEntry(line));
    return;
  }
  const entry = runs.get(line.run);
  if (entry === undefined) return;
  if ('short_pages' in line) entry.shortPages = [...(entry.shortPages ?? []), ...line.short_pages];
  else if ('targets' in line) entry.targets = [...(entry.targets ?? []), ...line.targets];
  else if ('reset' in line) entry.reset = [...(entry.reset ?? []), ...line.reset];
  else if ('accepted' in line) entry.accepted = line.accepted;
  else if ('begins' in line) entry.begins = [...(entry.begins ?? []), ...line.begins];
  else if ('finished_at' in line) {
    const { finished_at: finishedAt, exit_code: exitCode, stopped_by: stoppedBy, found, did } = line;
    const outcome = { ...(found === undefined ? {} : { found }), ...(did === undefined ? {} : { did }) };
    Object.assign(entry, { finishedAt, exitCode, stoppedBy, ...outcome });
  }
}

function beginEntry(line: Extract<Line, { verb: string }>): RunEntry {
  const { run, verb, jobs, jobs_dir: jobsDir, moved, started_at: startedAt } = line;
  return {
    ...{ run, verb, jobs },
    ...(jobsDir === undefined ? {} : { jobsDir }),
    ...(moved === undefined ? {} : { moved }),
    ...{ startedAt, finishedAt: null, exitCode: null, stoppedBy: null },
  };
}

/** Verbs that neither crawl nor publish what was crawled, so that the tables do not depend on how they ended. */
const otherVerbs = new Set(['state', 'source', 'clean', 'forget']);

/** The last run whose verb crawls or publishes; null: there is none. */
export function lastOfTables(runs: readonly RunEntry[]): RunEntry | null {
  return runs.findLast(({ verb }) => !otherVerbs.has(verb)) ?? null;
}

/** What the last run of each job left out. Pure. */
export function listLeftOut(runs: readonly RunEntry[]): LeftOut[] {
  const last = new Map(runs.flatMap((run) => run.jobs.map((job) => [job, run])));
  return [...last].flatMap(([job, { found }]) =>
    (found?.leftOut ?? []).filter((leftOut) => leftOut.job === job),
  );
}

/** The ids of accepted refusals, each with the run that accepted it. Pure. */
export function listAcceptedBy(runs: readonly RunEntry[]): ReadonlyMap<string, string> {
  return new Map(runs.flatMap(({ run, accepted = [] }) => accepted.map((id) => [id, run] as const)));
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

/** Appends one line, durable when it resolves. Half a line that a kill left is ended first. */
export async function appendRunLog(path: string, line: Line): Promise<void> {
  const handle = await open(path, 'a+', 0o600);
  try {
    const { size } = await handle.stat();
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    const isTorn = size > 0 && buffer[0] !== 10;
    await handle.appendFile(`${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    await handle.sync();
    // The name of a new file has to survive too, or the round would begin again.
    if (size === 0) await syncDirectory(dirname(path));
  } finally {
    await handle.close();
  }
}

/** Operations where a run found, since the source last moved, that a short page is not the end. Pure. */
export function listRefuted(runs: readonly RunEntry[]): ReadonlySet<string> {
  const moved = runs.findLastIndex(({ moved = {} }) => Object.hasOwn(moved, 'rpc'));
  return new Set(runs.slice(Math.max(0, moved)).flatMap(({ shortPages = [] }) => shortPages));
}
