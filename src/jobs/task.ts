import { createHash } from 'node:crypto';
import type { Operation } from '../operations/operation.ts';
import { canonicalJson, type Job, type Since } from './job.ts';
import type { Target } from './targets.ts';

/** The unit of resume: one job over one target. */
export interface Task {
  /** Hash of job, operation, parameters and target, so that changed parameters make another task. */
  id: string;
  job: string;
  target: string;
  operation: Operation;
  /** Parameters as sent, without those that choose the page. */
  params: Readonly<Record<string, unknown>>;
  pageSize: number;
  /** Feeds: how far back the first crawl goes. */
  since: Since | null;
  /** Feeds: how much below the newest covered slot is read again. */
  overlapMs: number | null;
  /** Crawls the list newest change first, and only down to records that are stored unchanged. */
  incremental: boolean;
  /** The part of the id space to crawl; null for the whole list. */
  range: IdRange | null;
}

/**
 * The task that crawls one target of a job in full. Pure: the same job and target have the same id every night. For an
 * incremental job it leaves out the sort order, and so goes by cursor.
 */
export function makeTask(job: Job, target: Target): Task {
  const { sortBy: _, ...unsorted } = job.params;
  return taskOf(job, target, job.mode === 'full' ? job.params : unsorted);
}

/** The task of an incremental job that crawls only what changed: newest change first, by page number. */
export function makeIncrementalTask(job: Job, target: Target): Task {
  return taskOf(job, target, job.params, { incremental: true });
}

/** The tasks of one target of a job with partitions, one for each range of ids. */
export function makeRangeTasks(job: Job, target: Target): Task[] {
  return splitIdSpace(job.partitions).map((range) => taskOf(job, target, job.params, { range }));
}

/**
 * The task that replaces those of the ranges where the source ignores ranges: the whole target, in the source's order. Its id
 * differs from that of a job without partitions. Once this task has been crawled, the ranges are not tried again.
 */
export function makeUnsplitTask(job: Job, target: Target): Task {
  const { sortBy: _, ...unsorted } = job.params;
  return taskOf(job, target, unsorted, { unsplit: job.partitions });
}

/** The parts of a task's id other than job, operation, parameters and target. */
interface TaskPart {
  incremental?: true;
  range?: IdRange;
  /** The number of ranges that the source ignored. */
  unsplit?: number;
}

function taskOf(job: Job, target: Target, jobParams: Job['params'], part: TaskPart = {}): Task {
  // Sorted by name, so that equal parameters are equal texts wherever they are hashed.
  const params = JSON.parse(canonicalJson({ ...jobParams, ...target.params })) as Record<string, unknown>;
  // The same strings as the target's, not copies: there are as many tasks as targets.
  Object.assign(params, target.params);
  const identity = canonicalJson({
    ...part,
    job: job.name,
    operation: job.operation.name,
    params,
    target: target.name,
  });
  return {
    id: createHash('sha256').update(identity).digest().toString('hex', 0, 8),
    job: job.name,
    target: target.name,
    operation: job.operation,
    params,
    pageSize: job.pageSize,
    since: job.since,
    overlapMs: job.overlapMs,
    incremental: part.incremental ?? false,
    range: part.range ?? null,
  };
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
/** Ids are 32 bytes. */
const idCount = 1n << 256n;

/** One of `count` ranges that tile the id space. Bounds are exclusive; null at the ends of the space. */
export interface IdRange {
  /** From 1. */
  number: number;
  count: number;
  after: string | null;
  before: string | null;
}

/**
 * Tiles the id space with ranges of one size, because ids are uniformly distributed. Every id is in exactly one range.
 */
export function splitIdSpace(count: number): IdRange[] {
  const starts = Array.from({ length: count + 1 }, (_, n) => (idCount * BigInt(n)) / BigInt(count));
  return starts.slice(0, -1).map((start, n) => ({
    number: n + 1,
    count,
    after: n === 0 ? null : encodeId(start - 1n),
    before: n === count - 1 ? null : encodeId(starts[n + 1]!),
  }));
}

/** A number of 32 bytes in base58: each leading zero byte is a `1`, digits follow. */
export function encodeId(id: bigint): string {
  const bytes = id.toString(16).padStart(64, '0');
  const zeros = /^(00)*/.exec(bytes)![0].length / 2;
  let digits = '';
  for (let rest = id; rest > 0n; rest /= 58n) digits = alphabet.charAt(Number(rest % 58n)) + digits;
  return '1'.repeat(zeros) + digits;
}
