import { createHash } from 'node:crypto';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { PageGroup } from '../landing/page-line.ts';

/** What is longer is no group's name (a signature has 88 characters), and would stand in the page's line. */
const maxGroupLength = 1024;

/**
 * Where a page stands in the groups of its list (transfers: the rows of one signature, which a page may end in the
 * middle of). `before` is what the page before it said. Only a page's first record and those of its last group are
 * parsed, also those that DuckDB cannot read: they have their places. Records without a group have none, and end none.
 */
export function readPageGroup(
  groupBy: string,
  records: readonly LandingRecord[],
  before: PageGroup | null,
): PageGroup | null {
  const first = records.find((record) => groupOf(record, groupBy) !== null);
  const last = records.findLast((record) => groupOf(record, groupBy) !== null);
  // The list may go on in the middle of the group.
  if (first === undefined || last === undefined) return before;
  const [begins, ends] = [groupOf(first, groupBy), groupOf(last, groupBy) as string];
  const carried =
    before !== null && before.last === begins ? before.count - countRepeated(before, records) : 0;
  const others = records.findLastIndex((record) => ![null, ends].includes(groupOf(record, groupBy)));
  const own = records.slice(others + 1).filter((record) => groupOf(record, groupBy) === ends);
  const ended = { before: carried, last: ends, count: own.length + (others === -1 ? carried : 0) };
  return { ...ended, tail: own.map(markOf) };
}

/**
 * How many of a page's first records are the last of the page before it once more: what arrived in between moved a cursor
 * that counts records. Equal neighbours at the border count as one, unless the pages show that there are two.
 */
function countRepeated({ tail = [] }: PageGroup, records: readonly LandingRecord[]): number {
  const marks = records.slice(0, tail.length).map(markOf);
  for (let count = marks.length; count > 0; count -= 1) {
    const ends = tail.slice(-count);
    if (ends.every((mark, n) => mark === marks[n])) return count;
  }
  return 0;
}

function markOf({ bytes }: LandingRecord): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

function groupOf({ bytes }: LandingRecord, groupBy: string): string | null {
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, groupBy)) return null;
  const group = (value as Record<string, unknown>)[groupBy];
  return typeof group === 'string' && group !== '' && group.length <= maxGroupLength ? group : null;
}
