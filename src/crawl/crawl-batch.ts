import type { IdsLine } from '../landing/page-line.ts';
import { type LandedCrawl, readSlice } from '../landing/reader.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { describePage, landPage } from './land-page.ts';
import { asksTooMuch, countSuccess, halveLimit, initialBackoff, type LimitBackoff } from './page-size.ts';
import { isNoData, requestPage } from './request-page.ts';

/**
 * Crawls a batch. Its slices are independent, so several are requested side by side, and a resumed crawl requests the
 * missing ones. A slice that is too much is cut, so that what was paid for lands part by part.
 */
export async function crawlBatch(start: TaskStart, deps: CrawlDeps): Promise<void> {
  const slices = await openSlices(start, deps);
  const { pending } = slices;
  const failures: unknown[] = [];
  const learnt: Learnt = {
    size: { limit: start.task.pageSize, backoff: initialBackoff },
    idsUnknown: false,
    notFound: 0,
  };
  const worker = async () => {
    for (let page = pending.shift(); page !== undefined; page = pending.shift())
      await crawlSlice(start, deps, slices, learnt, page);
  };
  // A failure leaves the others nothing to begin, but what they have requested must land.
  const stopOthers = (error: unknown) => {
    failures.push(error);
    pending.length = 0;
  };
  const count = Math.min(deps.batchConcurrency, pending.length);
  await Promise.all(Array.from({ length: count }, () => worker().catch(stopOthers)));
  if (failures.length > 0) throw failures[0];
}

/** What the slices of one batch learn from each other's answers. */
interface Learnt {
  size: BatchSize;
  /** Whether an answer without a record was believed: the ids may be unknown, so later ones are believed at once. */
  idsUnknown: boolean;
  /** Answers in a row that were "not found" as a whole. */
  notFound: number;
}

/**
 * A slice that is "not found" as a whole is halved to find the id that causes it. After this many such answers in a row
 * the ids are not the cause: halving on would send two requests an id, and believe that the source knows none.
 */
const maxNotFound = 64;

/** How many ids one request may have. */
interface BatchSize {
  limit: number;
  backoff: LimitBackoff;
}

/** The frozen slices of a batch. */
interface Slices {
  /** Numbers of the slices still to be requested, in order. */
  pending: number[];
  read(page: number): Promise<readonly string[]>;
  /**
   * Cuts a slice into parts of at most `maxIds` ids, frozen before it returns.
   * @returns the ids of the first part, which keeps its number
   */
  cut(page: number, ids: readonly string[], maxIds: number): Promise<readonly string[]>;
}

/** The frozen slices of a resumed batch, or new ones, frozen in the landing log before the first request. */
async function openSlices(start: TaskStart, deps: CrawlDeps): Promise<Slices> {
  const { resume, task } = start;
  const frozen = new Map<number, readonly string[]>();
  const freeze = async (slices: readonly IdsLine[]) => {
    await deps.landing.appendIds(slices);
    for (const { page, ids } of slices) frozen.set(page, ids);
  };
  if (resume === null) {
    const parts = splitIds(start.ids ?? [], task.pageSize);
    await freeze(parts.map((ids, n) => idsLine(start, deps, n + 1, ids, n === parts.length - 1)));
  }
  const pages = [...(resume?.slices ?? frozen).keys()];
  const pending = pages.filter((page) => !resume?.pages.has(page));
  let last = pages.reduce((highest, page) => Math.max(highest, page), 0);
  return {
    pending,
    read: async (page) => frozen.get(page) ?? readSlice(resume as LandedCrawl, page),
    async cut(page, ids, maxIds) {
      const [first = [], ...parts] = splitIds(ids, maxIds);
      const rest = parts.map((part) => {
        last += 1;
        return idsLine(start, deps, last, part, false);
      });
      // The shortened slice comes last: until it is frozen, the whole one counts.
      await freeze([...rest, idsLine(start, deps, page, first, false)]);
      pending.unshift(...rest.map((line) => line.page));
      return first;
    },
  };
}

/** Requests a slice, or its first part where so many ids are too many, and lands it. */
async function crawlSlice(
  start: TaskStart,
  deps: CrawlDeps,
  slices: Slices,
  learnt: Learnt,
  number: number,
): Promise<void> {
  const { size } = learnt;
  let ids = await slices.read(number);
  let maxIds = size.limit;
  for (;;) {
    if (ids.length > maxIds) ids = await slices.cut(number, ids, maxIds);
    try {
      await requestSlice(start, deps, learnt, number, ids);
      // A slice of fewer ids shows nothing about the limit.
      if (ids.length >= size.limit)
        Object.assign(size, countSuccess(size.limit, size.backoff, start.task.pageSize));
      return;
    } catch (error) {
      maxIds = maxIdsAfter(error, learnt, ids.length);
    }
  }
}

/**
 * How many ids to request together after a failure that fewer ids may avoid.
 * @throws the failure, where they would not
 */
function maxIdsAfter(error: unknown, learnt: Learnt, count: number): number {
  const { size } = learnt;
  if (error instanceof SizeGivenUp) return size.limit;
  if (count === 1) throw error;
  if (asksTooMuch(error)) giveUp(size, count);
  else if (isNoData(error)) learnt.notFound += 1;
  else throw error;
  if (learnt.notFound > maxNotFound) throw error;
  return Math.min(size.limit, Math.floor(count / 2));
}

/** Another slice found, before this one was sent, that so many ids are too many. */
class SizeGivenUp extends Error {}

/** Halves the limit that failed. A smaller slice, or a limit that another slice has halved meanwhile, changes nothing. */
function giveUp(size: BatchSize, count: number): void {
  if (count === size.limit) Object.assign(size, halveLimit(size.limit, size.backoff));
}

/**
 * Requests a slice and lands it. A store that is down claims to know none of the ids, so the first answer to several ids
 * that has no record is in doubt.
 * @throws SizeGivenUp when the slice has to be cut first
 */
async function requestSlice(
  start: TaskStart,
  deps: CrawlDeps,
  learnt: Learnt,
  number: number,
  ids: readonly string[],
): Promise<void> {
  const { size } = learnt;
  const where = { [start.task.operation.batchParam ?? 'ids']: ids.map(readId) };
  await requestPage(start, deps, {
    choose() {
      if (ids.length > size.limit) throw new SizeGivenUp();
      return { where, count: ids.length };
    },
    onTimeout: (count) => giveUp(size, count),
    async land(answer, settle) {
      learnt.notFound = answer.isNoData ? learnt.notFound + 1 : 0;
      if (answer.records.length === 0 && ids.length > 1 && !learnt.idsUnknown) {
        settle('empty');
        learnt.idsUnknown = true;
      }
      // Ids that the answer leaves out are as unknown to the source as those it has null for.
      const page = { ...answer, nulls: Math.max(answer.nulls, ids.length - answer.records.length) };
      const described = describePage(start, deps, page);
      const line = { ...described, page: number, position: null, last_slot: null, next: null, end: null };
      await landPage(deps, start, line, page);
    },
  });
}

/** An id that is a mapping (`{address, tree}`) is frozen as its JSON; no address begins with a brace. */
function readId(id: string): unknown {
  return id.startsWith('{') ? JSON.parse(id) : id;
}

function splitIds(ids: readonly string[], maxIds: number): (readonly string[])[] {
  const count = Math.ceil(ids.length / maxIds);
  return Array.from({ length: count }, (_, n) => ids.slice(n * maxIds, (n + 1) * maxIds));
}

/** The line that freezes a slice's ids. */
function idsLine(
  { task, crawl }: TaskStart,
  { run }: CrawlDeps,
  page: number,
  ids: readonly string[],
  last: boolean,
): IdsLine {
  const { id, job, target, operation } = task;
  const crawlFields = { task: id, crawl, run, job, target };
  const { name, shape } = operation;
  return { kind: 'ids', ...crawlFields, operation: name, shape, page, ids, last };
}
