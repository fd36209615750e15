import type { NewPage } from '../landing/render-page.ts';
import type { LandingLog } from '../landing/writer.ts';
import type { Operation } from '../operations/operation.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { memberAt, type ReceivedPage } from './page.ts';
import type { PageCursor, RequestedCursor } from './page-cursor.ts';
import type { NextStep, PageFacts } from './paging.ts';

/** The fields of a page line that any crawl has: the task, and the answer. */
export function describePage(
  { task, crawl, from }: TaskStart,
  { run, wave }: CrawlDeps,
  page: ReceivedPage,
): Omit<NewPage, 'page' | 'position' | 'next' | 'end' | 'last_slot'> {
  return {
    task: task.id,
    crawl,
    run,
    wave,
    job: task.job,
    target: task.target,
    operation: task.operation.name,
    params: task.params,
    shape: task.operation.shape,
    carries: listCarried(task.operation, task.params),
    slot: page.slot,
    slot_ceiling: page.slotCeiling,
    feed: task.operation.paging === 'feed',
    incremental: task.incremental,
    range: task.range,
    from_slot: from?.slot ?? null,
    nulls: page.nulls,
    received_at: page.receivedAt.toISOString(),
    envelope: page.envelope,
  };
}

/**
 * The line of a page of a list or feed.
 * @param cursor where the page was requested
 * @param nextCursor the cursor after it
 */
export function describeListPage(
  described: ReturnType<typeof describePage>,
  { operation: { groupBy, idMember, feed } }: TaskStart['task'],
  cursor: RequestedCursor,
  nextCursor: PageCursor,
  facts: PageFacts,
  { end }: NextStep,
): NewPage {
  const { page, position } = cursor;
  return {
    ...described,
    ...{ page, position },
    ...(groupBy === undefined ? {} : { group: nextCursor.group }),
    ...(idMember === undefined ? {} : { last_key: nextCursor.lastKey }),
    ...(nextCursor.restart.depth === page ? {} : { restart: nextCursor.restart }),
    ...{ next: nextCursor.position, end, last_slot: facts.lastSlot },
    ...(feed?.by === 'time' ? { by_time: true as const, first_time: facts.firstTime } : {}),
    ...(facts.descends ? {} : { descends: false }),
    ...(facts.freshSlot === null ? {} : { fresh_slot: facts.freshSlot }),
  };
}

/** Appends a page to the landing log, in one write for its crawl and the twins, and reports it. */
export async function landPage(
  { landing, onPage }: { landing: LandingLog; onPage: CrawlDeps['onPage'] },
  { task, twins = [] }: Pick<TaskStart, 'task' | 'twins'>,
  line: NewPage,
  page: ReceivedPage,
): Promise<void> {
  const bytes = page.records.reduce((sum, record) => sum + record.length, 0);
  const landed = { page: line.page, end: line.end, records: page.records.length, bytes };
  const twinLines = twins.map(({ task: { id, job, target }, crawl }) => ({
    ...line,
    task: id,
    crawl,
    job,
    target,
  }));
  await landing.appendPage(line, page.records, twinLines);
  for (const { task: crawled } of [{ task }, ...twins]) onPage(crawled, landed);
}

/** Row groups that an answer to these parameters covers: a group it leaves out is empty, not unknown. */
export function listCarried(operation: Operation, params: Readonly<Record<string, unknown>>): string[] {
  const { carries = [], carriesWith = {} } = operation;
  const requested = Object.entries(carriesWith).filter(
    ([option]) => memberAt(params, ['options', option]) === true,
  );
  return [...carries, ...requested.map(([, group]) => group)];
}
