import type { NewPage } from '../landing/render-page.ts';
import type { LandingLog } from '../landing/writer.ts';
import type { Operation } from '../operations/operation.ts';
import type { CrawlDeps, TaskStart } from './crawl-task.ts';
import { memberAt, type ReceivedPage } from './page.ts';
import type { AskedCursor, PageCursor } from './page-cursor.ts';
import type { NextStep, PageFacts } from './paging.ts';

/** What a page's line says of the task and the answer. */
export function describePage(
  { task, crawl, from }: TaskStart,
  { run, wave }: CrawlDeps,
  page: ReceivedPage,
  receivedAt: Date,
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
    received_at: receivedAt.toISOString(),
    envelope: page.envelope,
  };
}

/**
 * What the line of a list's or feed's page says.
 * @param cursor where the page was asked for
 * @param moved the cursor after it
 */
export function describeListPage(
  described: ReturnType<typeof describePage>,
  { operation: { groupBy, idMember, feed } }: TaskStart['task'],
  cursor: AskedCursor,
  moved: PageCursor,
  facts: PageFacts,
  { end }: NextStep,
): NewPage {
  const { page, position } = cursor;
  return {
    ...described,
    ...{ page, position },
    ...(groupBy === undefined ? {} : { group: moved.group }),
    ...(idMember === undefined ? {} : { last_key: moved.lastKey }),
    ...(moved.restart.depth === page ? {} : { restart: moved.restart }),
    ...{ next: moved.position, end, last_slot: facts.lastSlot },
    ...(feed?.by === 'time' ? { by_time: true as const, first_time: facts.firstTime } : {}),
    ...(facts.descends ? {} : { descends: false }),
  };
}

/** Appends a page to the landing log, for each crawl that it is of in one write, and tells of it. */
export async function landPage(
  { landing, onPage }: { landing: LandingLog; onPage: CrawlDeps['onPage'] },
  { task, twins = [] }: Pick<TaskStart, 'task' | 'twins'>,
  line: NewPage,
  page: ReceivedPage,
): Promise<void> {
  const bytes = page.records.reduce((sum, record) => sum + record.length, 0);
  const landed = { page: line.page, end: line.end, records: page.records.length, bytes };
  const also = twins.map(({ task: { id, job, target }, crawl }) => ({
    ...line,
    task: id,
    crawl,
    job,
    target,
  }));
  await landing.appendPage(line, page.records, also);
  for (const one of [task, ...twins.map((twin) => twin.task)]) onPage(one, landed);
}

/** Row groups that an answer to these parameters speaks of, even by leaving them out. */
export function listCarried(operation: Operation, params: Readonly<Record<string, unknown>>): string[] {
  const { carries = [], carriesWith = {} } = operation;
  const asked = Object.entries(carriesWith).filter(
    ([option]) => memberAt(params, ['options', option]) === true,
  );
  return [...carries, ...asked.map(([, group]) => group)];
}
