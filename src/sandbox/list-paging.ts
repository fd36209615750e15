import type { KeyTable } from './key-table.ts';
import { badParams, type ParamRule, readKey } from './rpc-method.ts';

/** Default and largest page of every list. */
export const maxLimit = 1000;
/**
 * Below this limit rows are dropped before the page is cut, because a page that is empty after dropping would be taken
 * for the end of the list.
 */
const shortPagesFrom = 20;

/** The paging parameters of the lists; only one style a request. */
export const pagingParams = {
  page: 'integer',
  limit: 'integer',
  cursor: 'string',
  before: 'string',
  after: 'string',
} as const satisfies Record<string, ParamRule>;

export interface PagingParams {
  page?: number;
  limit?: number;
  cursor?: string;
  before?: string;
  after?: string;
}

/** A list before it is cut: its rows in key order, and what may be done with them. */
export interface ListSource {
  keys: KeyTable;
  /** Ascending by key; may hold rows that are dropped. */
  rows: Uint32Array;
  keeps: (row: number) => boolean;
  /** Rows are dropped after LIMIT, which makes pages short; else before it. */
  dropsLate: boolean;
  descending: boolean;
  /** Another order than by key: it replaces `rows`, and only page numbers work with it. */
  sorted?: { by: string; rows: () => Uint32Array };
}

export interface ListPage {
  rows: number[];
  limit: number;
  /** Echoes of the request, and the cursor of the next page when the request was in cursor style. */
  page?: number;
  before?: string;
  after?: string;
  cursor?: string;
}

/**
 * Cuts one page out of a list.
 * - `page` is 1-based. `before` and `after` are exclusive bounds on the key's bytes whatever the direction.
 * - `cursor` is in every answer to a request without these, if the page has rows, also a partial last one.
 * @throws RpcError -32602 for a page 0, a limit above 1000, mixed styles, or a bound that is no key
 */
export function cutPage(source: ListSource, params: PagingParams, pageOnly: boolean): ListPage {
  const limit = checkPaging(source, params, pageOnly);
  const candidates = source.sorted?.rows() ?? boundedRows(source, params, pageOnly);
  const late = source.dropsLate && limit >= shortPagesFrom;
  const skip = ((params.page ?? 1) - 1) * limit;
  const taken = takeRows(candidates, source.descending, { skip, limit, keeps: late ? null : source.keeps });
  const rows = late ? taken.filter(source.keeps) : taken;
  const page: ListPage = { rows, limit };
  if (params.page !== undefined || pageOnly) page.page = params.page ?? 1;
  if (params.before !== undefined) page.before = params.before;
  if (params.after !== undefined) page.after = params.after;
  const last = taken.at(-1);
  const inCursorStyle =
    params.page === undefined && params.before === undefined && params.after === undefined;
  if (inCursorStyle && !pageOnly && rows.length > 0 && last !== undefined)
    page.cursor = source.keys.text(last);
  return page;
}

function checkPaging(source: ListSource, params: PagingParams, pageOnly: boolean): number {
  const { page, limit = maxLimit, cursor, before, after } = params;
  if (page === 0) throw badParams('`page` starts at 1');
  if (limit > maxLimit) throw badParams(`\`limit\` must not be above ${maxLimit}`);
  const styles = [page, pageOnly ? undefined : cursor, before ?? after].filter(
    (style) => style !== undefined,
  );
  if (styles.length > 1) throw badParams('only one of `page`, `cursor`, `before`/`after` may be given');
  if (source.sorted !== undefined && page === undefined && !pageOnly) {
    throw badParams(
      `\`sortBy\` ${source.sorted.by} works with \`page\` only; other paging needs the id order`,
    );
  }
  return limit;
}

function boundedRows(source: ListSource, params: PagingParams, pageOnly: boolean): Uint32Array {
  const { keys, rows, descending } = source;
  let low = 0;
  let high = rows.length;
  const raise = (bound: string, name: string) => {
    low = Math.max(low, keys.countBelow(rows, readKey(bound, name), true));
  };
  const lower = (bound: string, name: string) => {
    high = Math.min(high, keys.countBelow(rows, readKey(bound, name), false));
  };
  if (params.after !== undefined) raise(params.after, 'after');
  if (params.before !== undefined) lower(params.before, 'before');
  if (params.cursor !== undefined && !pageOnly) (descending ? lower : raise)(params.cursor, 'cursor');
  return rows.subarray(low, Math.max(low, high));
}

/** @param keeps drops rows before the cut; null: the caller drops them after it */
function takeRows(
  candidates: Uint32Array,
  descending: boolean,
  cut: { skip: number; limit: number; keeps: ((row: number) => boolean) | null },
): number[] {
  const rowAt = (n: number) => candidates[descending ? candidates.length - 1 - n : n] as number;
  if (cut.keeps === null) {
    const length = Math.max(0, Math.min(cut.limit, candidates.length - cut.skip));
    return Array.from({ length }, (_, n) => rowAt(cut.skip + n));
  }
  const taken: number[] = [];
  let kept = 0;
  for (let n = 0; n < candidates.length && taken.length < cut.limit; n += 1) {
    if (!cut.keeps(rowAt(n))) continue;
    kept += 1;
    if (kept > cut.skip) taken.push(rowAt(n));
  }
  return taken;
}

/**
 * The `result` of a list operation as JSON text: `total` is the number of rows on this page, as from
 * real servers, not of the list.
 */
export function pageText(
  name: string,
  page: ListPage,
  records: string[],
  slot: number,
  loose: boolean,
): string {
  const members = [
    `"last_indexed_slot":${slot}`,
    `"total":${records.length}`,
    `"limit":${page.limit}`,
    ...(page.page === undefined ? [] : [`"page":${page.page}`]),
    ...(page.before === undefined ? [] : [`"before":${JSON.stringify(page.before)}`]),
    ...(page.after === undefined ? [] : [`"after":${JSON.stringify(page.after)}`]),
    ...(page.cursor === undefined ? [] : [`"cursor":${JSON.stringify(page.cursor)}`]),
  ];
  return `{${members.join(',')},"${name}":${arrayText(records, loose)}}`;
}

/** Records as a JSON array; `loose` puts raw newlines between tokens, which JSON allows anywhere. */
export function arrayText(records: string[], loose: boolean): string {
  if (!loose) return `[${records.join(',')}]`;
  return `[\n  ${records.map((record) => record.replace(/^\{"/, '{\n    "')).join(',\n  ')}\n]`;
}

/** Whether an answer has raw newlines between tokens; its first row decides. */
export function isLoose(rows: number[], quirks: boolean): boolean {
  return quirks && rows[0] !== undefined && rows[0] % 8 === 0;
}
