import type { Operation } from '../operations/operation.ts';

/**
 * Whether a page with fewer records than asked for ends its list. At most providers it does not have to: rows are dropped
 * after LIMIT (API notes, "Lists"). Where the config says that it does (`api.short_page_ends`), some are asked past all
 * the same, so that it is found out when it is not so.
 */
export interface ShortPages {
  /** Whether a list of the operation ends with the short page that came. Asked once a page: it counts them. */
  isEnd(operation: Operation): boolean;
  /** A page after a short one has records. Durable when it resolves. */
  refute(operation: Operation, job: string, target: string): Promise<void>;
}

/** One in so many short pages is asked past, and the first. */
const askedPast = 20;

/** Of a run without the setting. */
export const shortPagesGoOn: ShortPages = { isEnd: () => false, refute: async () => undefined };

/**
 * @param trusted operations whose short pages end their lists until one does not
 * @param random 0 to 1: which of them are asked past, so that it is not the same targets' every night
 * @param onRefuted called once an operation
 */
export function createShortPages(
  trusted: ReadonlySet<string>,
  random: () => number,
  onRefuted: (operation: string, job: string, target: string) => Promise<void>,
): ShortPages {
  const left = new Set(trusted);
  const met = new Map<string, number>();
  const offset = Math.floor(random() * askedPast);
  return {
    isEnd({ name }) {
      if (!left.has(name)) return false;
      const count = met.get(name) ?? 0;
      met.set(name, count + 1);
      return count !== 0 && (count + offset) % askedPast !== 0;
    },
    async refute({ name }, job, target) {
      if (left.delete(name)) await onRefuted(name, job, target);
    },
  };
}
