import { findOperation } from '../../src/operations/catalogue.ts';
import type { Call } from './scripted-api.ts';

export interface ListOptions {
  /** Slot that the page says it reflects; null where the source has none. */
  slot: number | null;
  /** Records a page. Default: all on one page. */
  pageSize?: number;
}

/**
 * A page of a list as its operation answers, by the catalogue: its records, cursor, slot and flag where they belong. The
 * cursor is the number of records before the page; every page of a cursor list that holds records has one.
 */
export function answerList(
  { operation: name, params }: Call,
  records: readonly unknown[],
  { slot, pageSize = Math.max(1, records.length) }: ListOptions,
): unknown {
  const operation = findOperation(name)!;
  const { records: at, slotAt, cursorAt, moreAt, paging, cursorParam = 'cursor' } = operation;
  const byNumber = paging === 'pages';
  const from = byNumber ? (Number(params.page) - 1) * pageSize : Number(params[cursorParam] ?? 0);
  const page = records.slice(from, from + pageSize);
  const end = from + page.length;
  const result: Record<string, unknown> = {};
  put(result, at.path, page);
  if (slot !== null && slotAt[0] !== undefined) put(result, slotAt[0], slot);
  if (moreAt !== undefined) put(result, moreAt, end < records.length);
  if (cursorAt !== undefined && page.length > 0 && (moreAt === undefined || end < records.length))
    put(result, cursorAt, `${end}`);
  return result;
}

/** Sets the value at a path of keys; objects on the way are made. */
export function put(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) throw new Error('the result itself cannot be replaced');
  if (rest.length === 0) {
    target[key] = value;
    return;
  }
  target[key] ??= {};
  put(target[key] as Record<string, unknown>, rest, value);
}
