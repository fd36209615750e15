import type { IdsLine } from '../landing/page-line.ts';
import { readSlice } from '../landing/reader.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import type { ReceivedPage } from './page.ts';
import { asksTooMuch, freshTrust, type LimitTrust, restore, shrink } from './page-limit.ts';
import { describePage, landPage, sendPage } from './send-page.ts';

/** A batch's slices are independent, so several are asked for at once, and a resume asks for the missing ones. */
export async function crawlBatch(start: TaskStart, deps: CrawlDeps): Promise<void> {
  const idsOf = await openSlices(start, deps);
  const pending = idsOf.pages.filter((page) => !start.resume?.pages.has(page));
  const failures: unknown[] = [];
  const size = { limit: start.task.pageSize, trust: freshTrust };
  const worker = async () => {
    for (let page = pending.shift(); page !== undefined; page = pending.shift())
      await crawlSlice(start, deps, size, page, await idsOf.read(page));
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

/** The frozen slices of a resumed batch, or new ones, frozen in the landing log before the first request. */
async function openSlices(start: TaskStart, deps: CrawlDeps) {
  const { resume } = start;
  if (resume !== null)
    return { pages: [...resume.slices.keys()], read: (page: number) => readSlice(resume, page) };
  const lines = sliceLines(start, deps, start.ids ?? []);
  await deps.landing.appendIds(lines);
  return { pages: lines.map((line) => line.page), read: async (page: number) => lines[page - 1]?.ids ?? [] };
}

/**
 * Asks for a slice, in parts where so many ids at once were too many, and lands it whole.
 * @param size what the slices of one batch learn of how many may be asked for
 */
async function crawlSlice(
  start: TaskStart,
  deps: CrawlDeps,
  size: { limit: number; trust: LimitTrust },
  number: number,
  ids: readonly string[],
): Promise<void> {
  const parts: ReceivedPage[] = [];
  // The rows are as old as the oldest part's.
  let oldest: Date | null = null;
  let most = ids.length;
  for (let from = 0; from < ids.length; ) {
    const asked = ids.slice(from, from + Math.min(size.limit, most));
    const keep = async (page: ReceivedPage, receivedAt: Date) => {
      // Ids that the answer leaves out are as unknown to the source as those it says null to.
      oldest ??= receivedAt;
      parts.push({ ...page, nulls: Math.max(page.nulls, asked.length - page.records.length) });
      if (from + asked.length === ids.length) await landSlice(start, deps, number, joinPages(parts), oldest);
    };
    try {
      await sendPage(start, deps, { [start.task.operation.batchParam ?? 'ids']: asked.map(readId) }, keep);
      from += asked.length;
      Object.assign(size, restore(size.limit, size.trust, start.task.pageSize));
    } catch (error) {
      if (!asksTooMuch(error) || asked.length === 1) throw error;
      // A short rest that was too big, or a size that another slice has given up meanwhile, is nobody else's measure.
      if (asked.length === size.limit) Object.assign(size, shrink(size.limit, size.trust));
      most = Math.floor(asked.length / 2);
    }
  }
}

async function landSlice(
  start: TaskStart,
  deps: CrawlDeps,
  number: number,
  page: ReceivedPage,
  receivedAt: Date,
): Promise<void> {
  const described = describePage(start, deps, page, receivedAt);
  const line = { ...described, page: number, position: null, last_slot: null, next: null, end: null };
  await landPage(deps, start.task, line, page);
}

/** One page of all parts of a slice; it is as old as the oldest of them. */
function joinPages(parts: readonly ReceivedPage[]): ReceivedPage {
  const slots = parts.flatMap(({ slot }) => slot ?? []);
  return {
    ...(parts.at(-1) as ReceivedPage),
    records: parts.flatMap(({ records }) => records),
    nulls: parts.reduce((sum, { nulls }) => sum + nulls, 0),
    slot: slots.length === 0 ? null : Math.min(...slots),
  };
}

/** An id that is a mapping (`{address, tree}`) is frozen as its JSON; addresses never begin like one. */
function readId(id: string): unknown {
  return id.startsWith('{') ? JSON.parse(id) : id;
}

/** Lines that freeze a batch's ids, in slices of the job's page size. */
function sliceLines({ task, crawl }: TaskStart, { run }: CrawlDeps, ids: readonly string[]): IdsLine[] {
  const { id, job, target, operation, pageSize } = task;
  const of = { task: id, crawl, run, job, target, operation: operation.name, shape: operation.shape };
  const count = Math.ceil(ids.length / pageSize);
  return Array.from({ length: count }, (_, n) => ({
    kind: 'ids',
    ...of,
    page: n + 1,
    ids: ids.slice(n * pageSize, (n + 1) * pageSize),
    last: n === count - 1,
  }));
}
