import { createHash } from 'node:crypto';
import type { Operation } from '../operations/operation.ts';
import { canonicalJson, type Job, type Since } from './job.ts';
import type { Target } from './targets.ts';

/** The unit of resume: one job over one target. */
export interface Task {
  /** Hash of job, operation, parameters and target: changed parameters make another task. */
  id: string;
  job: string;
  target: string;
  operation: Operation;
  /** Parameters as sent, without the ones that choose the page. */
  params: Readonly<Record<string, unknown>>;
  pageSize: number;
  /** Feeds: how far back to go. */
  since: Since | null;
  /** Feeds: how much below the newest covered slot is read again. */
  overlapMs: number | null;
  /** Walks the list newest change first, and only down to what is known. */
  incremental: boolean;
  /** The part of the id space this task walks; null for the whole list. */
  range: IdRange | null;
}

/**
 * The task that walks the whole of one target of a job. Pure: the same job and target make the same id on every
 * night. An incremental job's goes without its order, by cursor, as a full job's does.
 */
export function makeTask(job: Job, target: Target): Task {
  const { sortBy: _, ...unsorted } = job.params;
  return taskOf(job, target, job.mode === 'full' ? job.params : unsorted);
}

/** The task of an incremental job that only looks for what changed: newest change first, by page number. */
export function makeIncrementalTask(job: Job, target: Target): Task {
  return taskOf(job, target, job.params, { incremental: true });
}

/** The tasks of one target of a job with partitions: one a range of ids. */
export function makeRangeTasks(job: Job, target: Target): Task[] {
  return splitIdSpace(job.partitions).map((range) => taskOf(job, target, job.params, { range }));
}

/**
 * The task in place of those where the source has no ranges: the whole target, in the source's own order. It has an
 * id of its own, so that it is not taken for the task of a job without partitions; as long as it is known, the ranges
 * are not tried again.
 */
export function makeUnsplitTask(job: Job, target: Target): Task {
  const { sortBy: _, ...unsorted } = job.params;
  return taskOf(job, target, unsorted, { unsplit: job.partitions });
}

/** What an id tells apart besides job, operation, parameters and target. */
interface TaskPart {
  incremental?: true;
  range?: IdRange;
  /** How many ranges the job asked for in vain. */
  unsplit?: number;
}

function taskOf(job: Job, target: Target, own: Job['params'], part: TaskPart = {}): Task {
  // In one order of names, so that the same parameters are the same text wherever they are hashed.
  const params = JSON.parse(canonicalJson({ ...own, ...target.params })) as Record<string, unknown>;
  const identity = canonicalJson({
    ...part,
    job: job.name,
    operation: job.operation.name,
    params,
    target: target.name,
  });
  return {
    id: createHash('sha256').update(identity).digest('hex').slice(0, 16),
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

/** One of `count` ranges that tile the id space. Bounds are ids, exclusive; null where the space ends. */
export interface IdRange {
  /** From 1. */
  number: number;
  count: number;
  after: string | null;
  before: string | null;
}

/**
 * Tiles the id space with ranges of one size (ids are uniform: API notes, "Lists"). Every id is in exactly one: the
 * first that a range does not hold is the first of the next.
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

/** Base58 of a number of 32 bytes: a leading zero byte is a `1`, the others are its digits. */
export function encodeId(id: bigint): string {
  const bytes = id.toString(16).padStart(64, '0');
  const zeros = /^(00)*/.exec(bytes)![0].length / 2;
  let digits = '';
  for (let rest = id; rest > 0n; rest /= 58n) digits = alphabet.charAt(Number(rest % 58n)) + digits;
  return '1'.repeat(zeros) + digits;
}
