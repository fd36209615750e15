import type { IdsLine } from '../landing/page-line.ts';
import { readSlice } from '../landing/reader.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { describePage, landPage, sendPage } from './send-page.ts';

/** A batch's slices are independent, so several are asked for at once, and a resume asks for the missing ones. */
export async function crawlBatch(start: TaskStart, deps: CrawlDeps): Promise<void> {
  const idsOf = await openSlices(start, deps);
  const pending = idsOf.pages.filter((page) => !start.resume?.pages.has(page));
  const failures: unknown[] = [];
  const worker = async () => {
    for (let page = pending.shift(); page !== undefined; page = pending.shift())
      await crawlSlice(start, deps, page, await idsOf.read(page));
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

async function crawlSlice(
  start: TaskStart,
  deps: CrawlDeps,
  number: number,
  ids: readonly string[],
): Promise<void> {
  const { task } = start;
  await sendPage(
    start,
    deps,
    { [task.operation.batchParam ?? 'ids']: ids.map(readId) },
    (page, receivedAt) => {
      // Ids that the answer leaves out are as unknown to the source as those it says null to.
      const nulls = Math.max(page.nulls, ids.length - page.records.length);
      const described = { ...describePage(start, deps, page, receivedAt), nulls };
      const line = { ...described, page: number, position: null, last_slot: null, next: null, end: null };
      return landPage(deps, task, line, page);
    },
  );
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
