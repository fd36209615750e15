import { createHash } from 'node:crypto';
import type { LandingRecord } from '../landing/landing-record.ts';
import type { PageGroup } from '../landing/page-line.ts';

/** Ids of a page's records, in the page's order. */
export interface PageIds {
  listed: string[];
  /** Ids of `errors` entries, and of records that DuckDB cannot read. */
  refused: string[];
}

/** Exclusive bounds that were requested. */
export interface IdBounds {
  after?: string | undefined;
  before?: string | undefined;
}

const idText = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Base58 digits ascend in ASCII, so padded with leading zeros (`1`) ids compare as the numbers they are. */
export function compareIds(a: string, b: string): number {
  const [left, right] = [a.padStart(44, '1'), b.padStart(44, '1')];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Reads ids by the member that holds them. Parsing costs time, so for most pages only the first and the last are read. */
export function readIds(records: readonly LandingRecord[], member: string, which: 'all' | 'ends'): PageIds {
  const isReadable = (record: LandingRecord) => record.refusal === undefined;
  const idsOf = (some: readonly LandingRecord[]) => some.flatMap((record) => readId(record, member));
  const refused = idsOf(records.filter((record) => !isReadable(record)));
  if (which === 'all') return { listed: idsOf(records.filter(isReadable)), refused };
  const first = records.find(isReadable);
  const last = records.findLast(isReadable);
  const ends = first === undefined || last === undefined ? [] : first === last ? [first] : [first, last];
  return { listed: idsOf(ends), refused };
}

/** Whether ids ascend (or descend) and stay between the bounds. */
export function isInOrder(ids: readonly string[], ascending: boolean, { after, before }: IdBounds): boolean {
  return ids.every((id, n) => {
    if (after !== undefined && compareIds(id, after) <= 0) return false;
    if (before !== undefined && compareIds(id, before) >= 0) return false;
    const last = ids[n - 1];
    return last === undefined || (ascending ? compareIds(last, id) < 0 : compareIds(last, id) > 0);
  });
}

/** The id of a page that is furthest in the order; null where none can be read. */
export function furthestId({ listed, refused }: PageIds, ascending: boolean): string | null {
  const ends = [...listed.slice(-1), ...refused].sort(compareIds);
  return (ascending ? ends.at(-1) : ends[0]) ?? null;
}

function readId({ bytes }: LandingRecord, member: string): string[] {
  try {
    const record: unknown = JSON.parse(bytes.toString('utf8'));
    if (typeof record !== 'object' || record === null || !Object.hasOwn(record, member)) return [];
    const id = (record as Record<string, unknown>)[member];
    return typeof id === 'string' && idText.test(id) ? [id] : [];
  } catch {
    // A record that is no valid JSON has no id.
    return [];
  }
}

/** Longer values name no group: a signature has 88 characters, and the page's line holds the name. */
const maxGroupLength = 1024;

/**
 * The group that a page ends in, and how much of it was received (transfers: the rows of one signature, which a page may
 * split). Only the first record of a page and those of its last group are parsed, records that DuckDB cannot read
 * included. Records without a group are passed over.
 * @param before the group that the page before ends in
 */
export function readPageGroup(
  groupBy: string,
  records: readonly LandingRecord[],
  before: PageGroup | null,
): PageGroup | null {
  const first = records.find((record) => groupOf(record, groupBy) !== null);
  const last = records.findLast((record) => groupOf(record, groupBy) !== null);
  // The list may continue inside that group.
  if (first === undefined || last === undefined) return before;
  const [beginsWith, endsWith] = [groupOf(first, groupBy), groupOf(last, groupBy) as string];
  const carried =
    before !== null && before.last === beginsWith ? before.count - countRepeated(before, records) : 0;
  const lastOther = records.findLastIndex((record) => ![null, endsWith].includes(groupOf(record, groupBy)));
  const lastGroup = records.slice(lastOther + 1).filter((record) => groupOf(record, groupBy) === endsWith);
  const count = lastGroup.length + (lastOther === -1 ? carried : 0);
  return { before: carried, last: endsWith, count, tail: lastGroup.map(markOf) };
}

/**
 * How many of a page's first records repeat the last ones of the page before: records that arrived in between move a
 * cursor that counts records. Equal neighbours at the border count as one, unless the pages show that there are two.
 */
function countRepeated({ tail = [] }: PageGroup, records: readonly LandingRecord[]): number {
  const marks = records.slice(0, tail.length).map(markOf);
  for (let count = marks.length; count > 0; count -= 1) {
    const candidates = tail.slice(-count);
    if (candidates.every((mark, n) => mark === marks[n])) return count;
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
