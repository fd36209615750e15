import { createHash } from 'node:crypto';
import type { Task } from '../jobs/task.ts';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { PageGroup, Position, Restart } from '../landing/page-line.ts';
import { hashContent } from '../landing/render-page.ts';
import { PagingLoop } from './crawl-failures.ts';
import type { TaskStart } from './crawl-task.ts';
import { readIds } from './id-order.ts';
import type { PageAnswer } from './page.ts';
import { asksTooMuch, freshTrust, type LimitTrust, resizePosition, restore, shrink } from './page-limit.ts';
import {
  firstPosition,
  isAscending,
  isKeyPosition,
  type NextStep,
  positionAfter,
  type SlotBounds,
} from './paging.ts';

/** Where a crawl stands between two pages. */
export interface Walk extends SlotBounds {
  /** Number of the page that comes next, and where it is asked for; null when the crawl has ended. */
  page: number;
  position: Position | null;
  /** Of the page before it: the group its records end in, and the id they end at. */
  group: PageGroup | null;
  lastKey: string | null;
  restart: Restart;
  /** Whether the page before it had fewer records than asked for. */
  afterShort: boolean;
  /** Feeds: the slot it has come down to (null at the head), and Unix time of its newest record at or below what is covered. */
  reachedSlot: number | null;
  coveredTime: number | null;
  /** Feeds: pages that did not descend, one after another. */
  disordered: number;
  trust: LimitTrust;
  /** Incremental crawls: rows known at the end of what was walked. */
  known: number;
  /**
   * How often records and cursors (marks of them) were received since the walk last began, by any run: to find a server
   * that pages in a circle.
   */
  seen: Map<string, number>;
}

/** Restarts without having come further than before; after them the API's refusal stands. */
const maxRestarts = 2;

/** A new walk, or one that goes on where its pages in the landing log end. */
export function beginWalk({ task, resume, from }: TaskStart): Walk {
  const last = resume?.last ?? null;
  const depth = last?.page ?? 0;
  return {
    page: depth + 1,
    position: last?.next ?? from?.position ?? startOf(task),
    group: last === null ? (from?.group ?? null) : (last.group ?? null),
    lastKey: last?.last_key ?? null,
    cursorSlot: last === null ? (from?.slot ?? null) : last.last_slot,
    lowestSlot: resume?.minSlot ?? null,
    reachedSlot: last !== null ? last.last_slot : from?.position.cursor === undefined ? null : from.slot,
    coveredTime: null,
    afterShort: last !== null && last.position !== null && isShort(last.records, last.position),
    disordered: 0,
    restart: last?.restart ?? { count: 0, depth, deepest: depth },
    trust: freshTrust,
    known: 0,
    seen: new Map(resume?.seen),
  };
}

/**
 * The walk after the API refused the position of its next page: after the last id where the list is in id order,
 * else from the start. Null when that was tried often enough without coming further.
 */
export function restartWalk(task: Task, walk: Walk): Walk | null {
  const { position, lastKey, restart } = walk;
  if (position === null || restart.count === maxRestarts) return null;
  const count = restart.count + 1;
  const seen = new Map<string, number>();
  if (lastKey !== null && !isKeyPosition(position)) {
    const after = positionAfter(lastKey, { limit: position.limit }, isAscending(task.params));
    return { ...walk, afterShort: false, position: after, restart: { ...restart, count }, seen };
  }
  return {
    ...walk,
    position: startOf(task),
    group: null,
    lastKey: null,
    cursorSlot: null,
    reachedSlot: null,
    afterShort: false,
    restart: { count, depth: 0, deepest: restart.deepest },
    seen,
  };
}

/** Whether a page has records, and fewer than were asked for. */
export function isShort(records: number, { limit }: Position): boolean {
  return records > 0 && records < limit;
}

/** The walk that asks for half as much in the same place; null where the failure was another, or nothing is less. */
export function askForLess(error: unknown, { operation }: Task, walk: Walk): Walk | null {
  const { position, trust } = walk;
  if (!asksTooMuch(error) || position === null || operation.limit === null) return null;
  const less = shrink(position.limit, trust);
  return less && { ...walk, position: resizePosition(position, less.limit), trust: less.trust };
}

/** The next step after a page that came: with a limit that was halved, and held for a while, more is asked for again. */
export function askForMore(step: NextStep, { pageSize }: Task, trust: LimitTrust) {
  if (step.next === null) return { step, trust };
  const more = restore(step.next.limit, trust, pageSize);
  return { step: { ...step, next: resizePosition(step.next, more.limit) }, trust: more.trust };
}

/** How the restarts stand once another page has landed, with which the walk is so deep in the list. */
export function countPage({ count, depth, deepest }: Restart, reached: number): Restart {
  return depth < deepest
    ? { count, depth: reached, deepest }
    : { count: 0, depth: reached, deepest: reached };
}

/**
 * The same records or the same cursor twice in one walk is a circle: a server that ignores the cursor goes on for ever.
 * A walk by ids does not go by the cursors it is given. Pages that begin and end with the same ids have the same
 * records, whatever their bytes. By page number twice is none yet: as many records as a page has came in above.
 * @returns the page's marks, now in `seen`
 */
export function refuseLoop(
  { operation }: Task,
  page: PageAnswer,
  position: Position,
  seen: Map<string, number>,
): string[] {
  const { records, more } = page;
  const cursor = isKeyPosition(position) ? null : page.cursor;
  if (records.length === 0 && more !== true) return [];
  const ids = operation.idMember === undefined ? null : describeIds(records, operation.idMember);
  const most = position.page === undefined ? 1 : 2;
  const marks: string[] = [];
  for (const [what, value] of [
    ['ids', ids],
    ['records', records.length === 0 || ids !== null ? null : hashContent(records)],
    ['cursor', cursor],
  ] as const) {
    if (value === null) continue;
    const mark = `${what} ${createHash('sha256').update(value).digest('hex').slice(0, 16)}`;
    const times = (seen.get(mark) ?? 0) + 1;
    if (times > most)
      throw new PagingLoop(`the API gave the same ${what} ${times} times: it pages in a circle`);
    seen.set(mark, times);
    marks.push(mark);
  }
  return marks;
}

/** What a page's ids are, by its ends; null where fewer than two can be read. */
function describeIds(records: readonly LandingRecord[], idMember: string): string | null {
  const { listed } = readIds(records, idMember, 'ends');
  return listed.length < 2 ? null : `${listed.join(' ')} ${records.length}`;
}

function startOf({ operation, params, pageSize, range }: Task): Position {
  return firstPosition(operation, params, pageSize, range);
}
