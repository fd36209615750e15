import type { LandingRecord } from '../landing/landing-record.ts';

/** Ids that the records of a page have, in the page's order. */
export interface PageIds {
  listed: string[];
  /** Ids that stand in `errors` entries and in records DuckDB cannot read. */
  refused: string[];
}

/** Bounds that a server was asked to stay between, exclusive. */
export interface IdBounds {
  after?: string | undefined;
  before?: string | undefined;
}

const idText = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Base58 digits ascend in ASCII, so ids compare like the numbers they are when their leading zeros are written out. */
export function compareIds(a: string, b: string): number {
  const [one, other] = [a.padStart(44, '1'), b.padStart(44, '1')];
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Reads ids by the member that holds them. Records are parsed for nothing else, so of most pages only the `ends` are
 * read: the first and the last.
 */
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

/** The id of a page that lies furthest on in the order; null where none can be read. */
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
    // A record that is no JSON to anyone has no id to go by.
    return [];
  }
}
