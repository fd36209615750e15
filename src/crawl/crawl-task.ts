import { ApiError } from '../api/api-errors.ts';
import type { ApiClient } from '../api/client.ts';
import type { Task } from '../jobs/task.ts';
import type { EndReason, IdsLine, PageGroup, Position } from '../landing/page-line.ts';
import { isEnded, type LandedCrawl, readSlice } from '../landing/reader.ts';
import { splitPage } from '../landing/split.ts';
import { hashContent, type LandingLog, type LandingRecord, type NewPage } from '../landing/writer.ts';
import { listCarried, noData, type ReceivedPage, receivePage } from './page.ts';
import { firstPosition, nextStep, type PagingGoal } from './paging.ts';
import { readPageGroup } from './record-groups.ts';

/** A task with what is known of it before this run touches it. */
export interface TaskStart {
  task: Task;
  /** Name of this crawl: the run that began it. */
  crawl: string;
  /** Its pages that have landed, when an earlier run was stopped in the middle. */
  resume: LandedCrawl | null;
  /** Feeds: the gap this crawl begins at, instead of the head. */
  from?: { slot: number; position: Position };
  goal: Omit<PagingGoal, 'now' | 'since'>;
  /** Batch operations: the ids to ask for; not looked at when a list is frozen already. */
  ids?: readonly string[];
}

export interface CrawlDeps {
  client: ApiClient;
  landing: LandingLog;
  run: string;
  /** Slices of one batch task asked for at once. */
  batchConcurrency: number;
  /**
   * Whether these records of a page are in the tables as they are, by what the answer says of them. Asked before the
   * page lands, because the answer decides what its line says: data and checkpoint become true together.
   */
  isKnown(page: NewPage, records: readonly LandingRecord[]): Promise<boolean>;
  /** A page has landed. */
  onPage(task: Task, page: LandedPage): void;
}

export interface LandedPage {
  /** Its number in the crawl, from 1. */
  page: number;
  /** Why the crawl ended with it; null while it goes on, and for a batch. */
  end: EndReason | null;
  records: number;
  bytes: number;
}

/**
 * An incremental crawl ends when so many rows at the end of a page (all of a shorter one) are known: a few that nobody
 * changed may stand between changed ones, because replicas disagree and a full crawl takes its time.
 */
const knownRows = 200;

/** The server answers in circles: going on would pay for the same page for ever. Fails the target. */
export class PagingLoop extends Error {}

/** Crawls one task to its end, from where it stopped. Everything received has landed when it resolves or rejects. */
export async function crawlTask(start: TaskStart, deps: CrawlDeps): Promise<void> {
  if (start.task.operation.paging === 'batch') await crawlBatch(start, deps);
  else await crawlPages(start, deps);
}

async function crawlPages(start: TaskStart, deps: CrawlDeps): Promise<void> {
  const { task, resume } = start;
  if (resume !== null && isEnded(resume)) return;
  const seen = new Set<string>();
  let number = (resume?.last?.page ?? 0) + 1;
  let group: PageGroup | null = resume?.last?.group ?? null;
  let position: Position | null =
    resume?.last?.next ?? start.from?.position ?? firstPosition(task.operation, task.params, task.pageSize);
  while (position !== null) {
    const at: Position = position;
    let next = null as Position | null;
    await request(start, deps, positionParams(task, at), async (page, receivedAt) => {
      const last = readLast(task, page);
      const { cursor, more, slot } = page;
      const facts = { records: page.records.length, cursor, more, slot, page: number, ...last };
      const goal = { ...start.goal, since: task.since, now: receivedAt.getTime() };
      const step = nextStep(task.operation, at, facts, goal);
      refuseLoop(page, seen);
      refuseDeadEnd(task, page);
      const described = describePage(start, deps, page, receivedAt);
      const { groupBy } = task.operation;
      if (groupBy !== undefined) group = readPageGroup(groupBy, page.records, group);
      const line = { ...described, page: number, position: at, last_slot: last.lastSlot, ...step };
      const grouped: NewPage = groupBy === undefined ? line : { ...line, group };
      const kept = (await reachesKnown(task, grouped, page, deps)) ? endAsKnown(grouped) : grouped;
      await land(deps, task, kept, page);
      next = kept.next;
    });
    position = next;
    number += 1;
  }
}

/** A batch's slices are independent, so several are asked for at once, and a resume asks for the missing ones. */
async function crawlBatch(start: TaskStart, deps: CrawlDeps): Promise<void> {
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
  await request(
    start,
    deps,
    { [task.operation.batchParam ?? 'ids']: ids.map(readId) },
    (page, receivedAt) => {
      const described = describePage(start, deps, page, receivedAt);
      const line = { ...described, page: number, position: null, last_slot: null, next: null, end: null };
      return land(deps, task, line, page);
    },
  );
}

/** An id that is a mapping (`{address, tree}`) is frozen as its JSON; addresses never begin like one. */
function readId(id: string): unknown {
  return id.startsWith('{') ? JSON.parse(id) : id;
}

/** Asks for one page; it has landed, by `keep`, before another request may take this one's place. */
async function request(
  { task }: TaskStart,
  { client }: CrawlDeps,
  position: Record<string, unknown>,
  keep: (page: ReceivedPage, receivedAt: Date) => Promise<void>,
): Promise<void> {
  const { operation } = task;
  const params = { ...task.params, ...position };
  try {
    await client.send(operation, params, (body) => splitPage(body, operation.records), {
      keep: (page, receivedAt) => keep(receivePage(operation, page), receivedAt),
    });
  } catch (error) {
    // "Nothing under this id" is an answer: it lands as an empty page, so it is not asked for again in this round.
    if (!(error instanceof ApiError && error.kind === 'no_data')) throw error;
    await keep(noData, new Date());
  }
}

function positionParams({ operation }: Task, position: Position): Record<string, unknown> {
  const { limit, cursor, ...where } = position;
  return {
    ...(operation.limit === null ? {} : { limit }),
    ...(cursor === undefined ? {} : { [operation.cursorParam ?? 'cursor']: cursor }),
    ...where,
  };
}

function describePage(
  { task, crawl, from }: TaskStart,
  { run }: CrawlDeps,
  page: ReceivedPage,
  receivedAt: Date,
): Omit<NewPage, 'page' | 'position' | 'next' | 'end' | 'last_slot'> {
  return {
    task: task.id,
    crawl,
    run,
    job: task.job,
    target: task.target,
    operation: task.operation.name,
    params: task.params,
    shape: task.operation.shape,
    carries: listCarried(task.operation, task.params),
    slot: page.slot,
    feed: task.operation.paging === 'feed',
    incremental: task.incremental,
    range: task.range,
    from_slot: from?.slot ?? null,
    nulls: page.nulls,
    received_at: receivedAt.toISOString(),
    envelope: page.envelope,
  };
}

async function land(deps: CrawlDeps, task: Task, line: NewPage, page: ReceivedPage): Promise<void> {
  await deps.landing.appendPage(line, page.records);
  const bytes = page.records.reduce((sum, record) => sum + record.bytes.length, 0);
  deps.onPage(task, { page: line.page, end: line.end, records: page.records.length, bytes });
}

/** Whether an incremental crawl, which would go on after this page, has come down to what is known. */
async function reachesKnown(
  task: Task,
  line: NewPage,
  { records }: ReceivedPage,
  { isKnown }: CrawlDeps,
): Promise<boolean> {
  return task.incremental && line.end === null && (await isKnown(line, records.slice(-knownRows)));
}

function endAsKnown(line: NewPage): NewPage {
  return { ...line, next: null, end: 'known' };
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

/** Slot and Unix time of a feed page's last record: how far down the page reaches. */
function readLast(task: Task, page: ReceivedPage): { lastSlot: number | null; lastTime: number | null } {
  const last = page.records.findLast((record) => record.refusal === undefined);
  if (task.operation.paging !== 'feed' || last === undefined) return { lastSlot: null, lastTime: null };
  const { slot, blockTime } = JSON.parse(last.bytes.toString('utf8')) as {
    slot?: unknown;
    blockTime?: unknown;
  };
  return {
    lastSlot: Number.isSafeInteger(slot) ? (slot as number) : null,
    lastTime: Number.isSafeInteger(blockTime) ? (blockTime as number) : null,
  };
}

/** More records, and no way to ask for them: taken for the end, they would be missing without a word. */
function refuseDeadEnd({ operation }: Task, { more, cursor, records }: ReceivedPage): void {
  if (operation.paging === 'cursor' && more === true && cursor === null && records.length > 0)
    throw new PagingLoop('the API says that there are more records, but not how to ask for them');
}

/**
 * A server that ignores the cursor gives the same page for ever. The same bytes or the same cursor twice in one
 * crawl is such a circle.
 */
function refuseLoop(page: ReceivedPage, seen: Set<string>): void {
  const { records, cursor, more } = page;
  if (records.length === 0 && more !== true) return;
  for (const [what, value] of [
    ['records', records.length === 0 ? null : hashContent(records)],
    ['cursor', cursor],
  ]) {
    if (value === null) continue;
    if (seen.has(`${what} ${value}`))
      throw new PagingLoop(`the API gave the same ${what} twice: it pages in a circle`);
    seen.add(`${what} ${value}`);
  }
}
