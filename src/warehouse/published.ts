import { type MergeCounts, noRows } from './merge-table.ts';

/** What publishing came to. */
export interface Published {
  /** Crawls whose rows went in. */
  crawls: number;
  /** Crawls an audit or the brake refused, with the reason. */
  refused: { job: string; target: string; reason: string }[];
  /** By table. */
  tables: Record<string, MergeCounts>;
  /** Rows that left their lists, and a look-up of which would count now. */
  unasked: number;
}

export function nothingPublished(): Published {
  return { crawls: 0, refused: [], tables: {}, unasked: 0 };
}

/** Adds what one publish came to. */
export function addPublished(total: Published, one: Published): void {
  total.crawls += one.crawls;
  total.refused = total.refused.concat(one.refused);
  for (const [table, counts] of Object.entries(one.tables)) addCounts(total, table, counts);
  total.unasked = one.unasked;
}

/** Adds what became of a table's rows. */
export function addCounts(total: Published, table: string, counts: MergeCounts): void {
  const sum = { ...(total.tables[table] ?? noRows) };
  for (const name of Object.keys(sum) as (keyof MergeCounts)[]) sum[name] += counts[name];
  total.tables[table] = sum;
}
