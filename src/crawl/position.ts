import type { IdRange, Task } from '../jobs/task.ts';
import type { Position } from '../landing/page-line.ts';
import type { Operation } from '../operations/operation.ts';

/** Whether a list is requested in ascending order of its ids (the API sorts in descending order by default). */
export function isAscending(params: Readonly<Record<string, unknown>>): boolean {
  const order = params.sortBy as { sortBy?: string; sortDirection?: string } | undefined;
  return order?.sortBy === 'id' && order.sortDirection === 'asc';
}

/**
 * The position of the first page: neither page number nor cursor, so that a server that has cursors gives one. A job that
 * sorts must use page numbers, and a range of ids has its bounds.
 */
export function firstPosition(
  operation: Operation,
  params: Readonly<Record<string, unknown>>,
  limit: number,
  range: IdRange | null,
): Position {
  if (range !== null) {
    const { after, before } = range;
    return { limit, ...(after === null ? {} : { after }), ...(before === null ? {} : { before }) };
  }
  const order = params.sortBy as { sortBy?: string } | undefined;
  const sorted = operation.paging === 'keyset' && order !== undefined && order.sortBy !== 'id';
  const numbered = sorted || operation.paging === 'pages';
  return numbered ? { limit, page: 1 } : { limit };
}

/** Whether a position is an id to continue after: answers to it have no cursor, and an empty one is the end. */
export function isKeyPosition({ after, before }: Position): boolean {
  return after !== undefined || before !== undefined;
}

/** The position that continues after an id, within the bound that lies ahead. */
export function positionAfter(id: string, position: Position, ascending: boolean): Position {
  const { limit, after, before } = position;
  if (ascending) return { limit, after: id, ...(before === undefined ? {} : { before }) };
  return { limit, ...(after === undefined ? {} : { after }), before: id };
}

/**
 * The same record of the list with another limit, at most `maxLimit`. How many records are before a page number depends
 * on the limit, so there the limit becomes the largest one with which a page begins at that record.
 */
export function resizePosition(position: Position, maxLimit: number): Position {
  if (position.page === undefined) return { ...position, limit: maxLimit };
  const passed = (position.page - 1) * position.limit;
  let limit = maxLimit;
  while (passed % limit !== 0) limit -= 1;
  return { limit, page: passed / limit + 1 };
}

/** Whether a page has records, and fewer than requested. */
export function isShort(records: number, { limit }: Position): boolean {
  return records > 0 && records < limit;
}

/** Whether a page has as many records as requested: the list most likely continues. */
export function isFull(records: number, { limit }: Position): boolean {
  return records > 0 && records >= limit;
}

/** The parameters that choose a page, as sent. */
export function positionParams({ operation }: Task, position: Position): Record<string, unknown> {
  const { limit, cursor, ...where } = position;
  return {
    ...(operation.limit === null ? {} : { limit }),
    ...(cursor === undefined ? {} : { [operation.cursorParam ?? 'cursor']: cursor }),
    ...where,
  };
}
