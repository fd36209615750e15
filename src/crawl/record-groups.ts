import type { LandingRecord } from '../landing/landing-record.ts';
import type { PageGroup } from '../landing/page-line.ts';

/** What is longer is no group's name (a signature has 88 characters), and would stand in the page's line. */
const maxGroupLength = 1024;

/**
 * Where a page stands in the groups of its list (transfers: the rows of one signature, which a page may end in the
 * middle of). `before` is what the page before it said. Only a page's first record and those of its last group are
 * parsed. Null where records name no group. An empty page ends none: the list may go on in the middle of it.
 */
export function readPageGroup(
  groupBy: string,
  records: readonly LandingRecord[],
  before: PageGroup | null,
): PageGroup | null {
  if (records.length === 0) return before;
  const first = groupOf(records[0], groupBy);
  const last = groupOf(records.at(-1), groupBy);
  if (last === null) return null;
  const carried = before !== null && before.last === first ? before.count : 0;
  const others = records.findLastIndex((record) => groupOf(record, groupBy) !== last);
  const count = records.length - 1 - others + (others === -1 ? carried : 0);
  return { before: carried, last, count };
}

function groupOf(record: LandingRecord | undefined, groupBy: string): string | null {
  if (record === undefined || record.refusal !== undefined) return null;
  const value: unknown = JSON.parse(record.bytes.toString('utf8'));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, groupBy)) return null;
  const group = (value as Record<string, unknown>)[groupBy];
  return typeof group === 'string' && group.length <= maxGroupLength ? group : null;
}
