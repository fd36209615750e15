import type { IdsLine } from '../landing/page-line.ts';
import { type LandedCrawl, readSlice } from '../landing/reader.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { describePage, landPage } from './land-page.ts';
import { asksTooMuch, freshTrust, type LimitTrust, restore, shrink } from './page-size.ts';
import { isNoData, sendPage } from './send-page.ts';

/**
 * A batch's slices are independent, so several are asked for at once, and a resume asks for the missing ones. One that
 * is too much at once is cut, so that what was paid for lands part by part.
 */
export async function crawlBatch(start: TaskStart, deps: CrawlDeps): Promise<void> {
  const slices = await openSlices(start, deps);
  const { pending } = slices;
  const failures: unknown[] = [];
  const learnt: Learnt = {
    size: { limit: start.task.pageSize, trust: freshTrust },
    empty: createEmptySlices(),
    notFound: 0,
  };
  const worker = async () => {
    for (let page = pending.shift(); page !== undefined; page = pending.shift())
      await crawlSlice(start, deps, slices, learnt, page);
  };
  // One that fails takes the rest from the others, but what they have asked for already must land.
  const orStop = (error: unknown) => {
    failures.push(error);
    pending.length = 0;
  };
  const count = Math.min(deps.batchConcurrency, pending.length);
  await Promise.all(Array.from({ length: count }, () => worker().catch(orStop)));
  if (failures.length > 0) throw failures[0];
}

/** What the slices of one batch learn from each other's answers. */
interface Learnt {
  size: BatchSize;
  empty: EmptySlices;
  /** Answers in a row that said "not found" instead of answering. */
  notFound: number;
}

/**
 * Of a slice that is "not found" as a whole, one id is looked for by halving. Where every part says so, it is not the
 * ids: a source would be asked twice for each of them, and believed that it knows none.
 */
const mostNotFound = 64;

/** How many ids may be asked for at once. */
interface BatchSize {
  limit: number;
  trust: LimitTrust;
}

/** The frozen slices of a batch. */
interface Slices {
  /** Numbers of those still to be asked for, in order. */
  pending: number[];
  read(page: number): Promise<readonly string[]>;
  /**
   * Cuts a slice into parts of at most so many ids, frozen before it returns.
   * @returns the ids of the first part, which keeps its number, and the numbers of all
   */
  cut(
    page: number,
    ids: readonly string[],
    most: number,
  ): Promise<{ first: readonly string[]; parts: readonly number[] }>;
}

/** The frozen slices of a resumed batch, or new ones, frozen in the landing log before the first request. */
async function openSlices(start: TaskStart, deps: CrawlDeps): Promise<Slices> {
  const { resume, task } = start;
  const own = new Map<number, readonly string[]>();
  const freeze = async (slices: readonly IdsLine[]) => {
    await deps.landing.appendIds(slices);
    for (const { page, ids } of slices) own.set(page, ids);
  };
  if (resume === null) {
    const parts = splitIds(start.ids ?? [], task.pageSize);
    await freeze(parts.map((ids, n) => idsLine(start, deps, n + 1, ids, n === parts.length - 1)));
  }
  const pages = [...(resume?.slices ?? own).keys()];
  const pending = pages.filter((page) => !resume?.pages.has(page));
  let last = pages.reduce((most, page) => Math.max(most, page), 0);
  return {
    pending,
    read: async (page) => own.get(page) ?? readSlice(resume as LandedCrawl, page),
    async cut(page, ids, most) {
      const [first = [], ...parts] = splitIds(ids, most);
      const rest = parts.map((part) => {
        last += 1;
        return idsLine(start, deps, last, part, false);
      });
      // The shortened slice comes last: until it is frozen, the whole one is in force.
      await freeze([...rest, idsLine(start, deps, page, first, false)]);
      const numbers = rest.map((line) => line.page);
      pending.unshift(...numbers);
      return { first, parts: [page, ...numbers] };
    },
  };
}

/**
 * Asks for a slice, or for its first part where so many ids at once are too many, and lands it.
 */
async function crawlSlice(
  start: TaskStart,
  deps: CrawlDeps,
  slices: Slices,
  learnt: Learnt,
  number: number,
): Promise<void> {
  const { size, empty } = learnt;
  let ids = await slices.read(number);
  let most = size.limit;
  let isDoubted = false;
  for (;;) {
    if (ids.length > most) {
      const { first, parts } = await slices.cut(number, ids, most);
      if (isDoubted) empty.cut(parts);
      ids = first;
    }
    isDoubted = false;
    try {
      await askForSlice(start, deps, learnt, number, ids);
      // Fewer than that many say nothing of it.
      if (ids.length >= size.limit) Object.assign(size, restore(size.limit, size.trust, start.task.pageSize));
      return;
    } catch (error) {
      most = nextMost(error, learnt, ids.length);
      isDoubted = error instanceof NothingFound;
    }
  }
}

/**
 * How many ids to ask for at once after a failure that fewer may survive.
 * @throws the failure, where they would not
 */
function nextMost(error: unknown, learnt: Learnt, count: number): number {
  const { size } = learnt;
  if (error instanceof SizeGivenUp) return size.limit;
  if (count === 1) throw error;
  if (error instanceof NothingFound) return Math.ceil(count / 2);
  if (asksTooMuch(error)) giveUp(size, count);
  else if (isNoData(error)) learnt.notFound += 1;
  else throw error;
  if (learnt.notFound > mostNotFound) throw error;
  return Math.min(size.limit, Math.floor(count / 2));
}

/** An answer without a record to so many ids that it is asked for again in parts; it does not land. */
class NothingFound extends Error {}

/** Before it was sent, another slice was answered to as many ids that they are too many. */
class SizeGivenUp extends Error {}

/** A short rest that was too much, or a size that another slice has given up meanwhile, is nobody else's measure. */
function giveUp(size: BatchSize, count: number): void {
  if (count === size.limit) Object.assign(size, shrink(size.limit, size.trust));
}

/** @throws SizeGivenUp when it has to be cut first; NothingFound when it is to be asked for again */
async function askForSlice(
  start: TaskStart,
  deps: CrawlDeps,
  learnt: Learnt,
  number: number,
  ids: readonly string[],
): Promise<void> {
  const { size, empty } = learnt;
  const where = { [start.task.operation.batchParam ?? 'ids']: ids.map(readId) };
  const ask = {
    choose() {
      if (ids.length > size.limit) throw new SizeGivenUp();
      return { where, count: ids.length };
    },
    onSlow: (count: number) => giveUp(size, count),
  };
  await sendPage(start, deps, ask, async (page, receivedAt) => {
    learnt.notFound = page.isNoData ? learnt.notFound + 1 : 0;
    if (page.records.length === 0 && empty.isDoubted(number, ids.length)) throw new NothingFound();
    empty.answered(number, page.records.length);
    // Ids that the answer leaves out are as unknown to the source as those it says null to.
    const whole = { ...page, nulls: Math.max(page.nulls, ids.length - page.records.length) };
    const described = describePage(start, deps, whole, receivedAt);
    const line = { ...described, page: number, position: null, last_slot: null, next: null, end: null };
    await landPage(deps, start, line, whole);
    return true;
  });
}

/** An id that is a mapping (`{address, tree}`) is frozen as its JSON; addresses never begin like one. */
function readId(id: string): unknown {
  return id.startsWith('{') ? JSON.parse(id) : id;
}

function splitIds(ids: readonly string[], most: number): (readonly string[])[] {
  const count = Math.ceil(ids.length / most);
  return Array.from({ length: count }, (_, n) => ids.slice(n * most, (n + 1) * most));
}

/** A line that freezes a slice's ids. */
function idsLine(
  { task, crawl }: TaskStart,
  { run }: CrawlDeps,
  page: number,
  ids: readonly string[],
  last: boolean,
): IdsLine {
  const { id, job, target, operation } = task;
  const of = { task: id, crawl, run, job, target, operation: operation.name, shape: operation.shape };
  return { kind: 'ids', ...of, page, ids, last };
}

/**
 * What a batch makes of answers without a record. A store that is down says of all ids that it does not know them, so such
 * an answer to more than one id is asked for again in two halves, and what they say is believed. Once both halves had
 * nothing either, the batch is taken to ask for ids that nobody knows, and later answers are believed at once: however
 * many ids, this costs two requests for each slice in flight.
 */
export interface EmptySlices {
  /** Whether to ask again, in parts, what a slice of so many ids was answered nothing to. */
  isDoubted(slice: number, ids: number): boolean;
  /** A slice is asked for again as these. */
  cut(parts: readonly number[]): void;
  /** A slice was answered, and that is believed. */
  answered(slice: number, records: number): void;
}

export function createEmptySlices(): EmptySlices {
  /** By slice that is a part: what is open of the slice that was cut. */
  const doubts = new Map<number, { open: number; found: boolean }>();
  let areUnknown = false;
  return {
    isDoubted: (slice, ids) => ids > 1 && !areUnknown && !doubts.has(slice),
    cut(parts) {
      const doubt = { open: parts.length, found: false };
      for (const part of parts) doubts.set(part, doubt);
    },
    answered(slice, records) {
      const doubt = doubts.get(slice);
      if (doubt === undefined) return;
      doubt.open -= 1;
      doubt.found ||= records > 0;
      areUnknown ||= doubt.open === 0 && !doubt.found;
    },
  };
}
