import type { Published } from '../warehouse/published.ts';

/** A line for each crawl that did not go in. Pure. @param what PUBLISHED or RELOADED */
export function refusalLines(refused: Published['refused'], what = 'PUBLISHED'): string[] {
  return refused.map(
    ({ job, target, reason }) => `  NOT ${what} ${job}${target === '' ? '' : `/${target}`}: ${reason}`,
  );
}
