import { quoteName, quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { carriesGroup } from './text-hash.ts';

/** Lets the loader's own database read the digests in a build, which nobody has open for writing meanwhile. */
export async function attachTexts(database: Database, build: string): Promise<void> {
  await database.run(`attach ${quoteText(build)} as build (read_only)`);
}

/** What a segment has of texts that rows were read from already. */
export interface KnownTexts {
  /** Records whose texts are known. */
  known: number;
  /** The others, by page (its end_offset): their numbers, ascending. */
  others: ReadonlyMap<number, readonly number[]>;
}

/** Where a segment's known records and its pages stand. */
export interface KnownTables {
  known: string;
  received: string;
}

const knownTables: KnownTables = { known: 'known', received: 'received_page' };

/** Keeps what `findKnownTexts` made of a segment, while others are looked at. */
export async function keepKnown(database: Database, segment: number): Promise<KnownTables> {
  const kept = { known: `known_${segment}`, received: `received_${segment}` };
  await database.run(`alter table ${knownTables.known} rename to ${kept.known}`);
  await database.run(`alter table ${knownTables.received} rename to ${kept.received}`);
  return kept;
}

/** Makes `known` of a segment (sql/load/known.sql), and lists its other records. */
export async function findKnownTexts(
  database: Database,
  { name, key }: TableSpec,
  segment: { pages: string; longest_page_line: number },
): Promise<KnownTexts> {
  await database.run(readSql('load/received.sql'), segment);
  const sql = readSql('load/known.sql').replaceAll('{table}', name);
  await database.run(sql.replaceAll('{key}', key.map(quoteName).join(', ')));
  const [row] = await database.rows<{ known: bigint }>('select count(*) as known from known');
  const known = Number(row?.known ?? 0n);
  if (known === 0) return { known, others: new Map() };
  const pages = await database.rows<{ page: bigint; numbers: readonly number[] }>(readSql('load/others.sql'));
  return {
    known,
    others: new Map(pages.map(({ page, numbers }) => [Number(page), numbers])),
  };
}

/**
 * The rows of the records in `known`: what publish asks of a row that is as it was, and none of its values. Columns as the
 * typed rows have them, by name.
 */
export function knownRowsSql(
  spec: TableSpec,
  columns: readonly string[],
  { known, received }: KnownTables = knownTables,
): string {
  const groups = listGroups(spec, columns);
  const named = groups
    .slice(1)
    .flatMap((group) => [
      `coalesce(own_slot, page_slot) as ${group.slot}`,
      `${carriesGroup(groups, group, 'carried')} as ${group.carried}`,
    ]);
  const key = spec.key.map(quoteName);
  const final = spec.final === null ? [] : [`final as ${quoteName(spec.final)}`];
  return `select task, crawl, page, n, run_id, seen_at, digest, own_slot, coalesce(own_slot, page_slot) as slot,
      ${[...named, ...final, ...key].join(', ')}, row_hash
    from ${known} join ${received} using (end_offset)`;
}
