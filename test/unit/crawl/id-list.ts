import { encodeId } from '../../../src/jobs/task.ts';
import type { Answer, Params } from '../../support/crawl.ts';

/** `count` ids spread over the id space, ascending. */
export function spreadIds(count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    encodeId(((2n * BigInt(n) + 1n) << 256n) / BigInt(2 * count)),
  );
}

export interface ListOptions {
  slot?: number;
  /** Whether the request is refused, and with which words. */
  refuses?(params: Params, nth: number): string | null;
  /** Ids the server leaves `before` or `after` out of. */
  ignores?: readonly ('before' | 'after' | 'sortBy')[];
}

/**
 * A list as the reference server gives it: ids descend unless `sortBy` says otherwise, `before` and `after` are
 * exclusive bounds, a cursor comes (and is the last id) where neither was asked for.
 */
export function idList(ids: readonly string[], options: ListOptions = {}): Answer {
  const { slot = 100, refuses = () => null, ignores = [] } = options;
  return (params, nth) => {
    const refusal = refuses(params, nth);
    if (refusal !== null) return new Error(refusal);
    const asked = Object.fromEntries(
      Object.entries(params).filter(([name]) => !ignores.includes(name as 'before')),
    );
    const { cursor, before, after, limit, sortBy } = asked as Record<string, string | undefined>;
    const ascending = (sortBy as unknown as { sortDirection: string } | undefined)?.sortDirection === 'asc';
    const order = ascending ? ids : [...ids].reverse();
    const from = cursor === undefined ? 0 : order.indexOf(cursor) + 1;
    const low = after === undefined ? -1 : ids.findLastIndex((id) => number(id) <= number(after));
    const high = before === undefined ? ids.length : ids.findIndex((id) => number(id) >= number(before));
    const within = new Set(ids.slice(low + 1, high === -1 ? ids.length : high));
    const page = order
      .slice(from)
      .filter((id) => within.has(id))
      .slice(0, Number(limit));
    const inCursorStyle = before === undefined && after === undefined && page.length > 0;
    return {
      last_indexed_slot: slot,
      items: page.map((id) => ({ id })),
      ...(inCursorStyle ? { cursor: page.at(-1) } : {}),
    };
  };
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** The number that a base58 text stands for. */
export function number(id: string): bigint {
  return [...id].reduce((sum, digit) => sum * 58n + BigInt(alphabet.indexOf(digit)), 0n);
}
