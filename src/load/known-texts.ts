import { quoteName, quoteText, readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { carriesGroup } from './text-hash.ts';

/** Lets the loader's database read the digests in a build, which must not be open for writing meanwhile. */
export async function attachTexts(database: Database, build: string): Promise<void> {
  await database.run(`attach ${quoteText(build)} as build (read_only)`);
}

/** Which of a segment's records have a text that was read before. */
export interface KnownTexts {
  /** How many records have a known text. */
  known: number;
  /** Numbers of the other records, ascending, by their page's end_offset. */
  others: ReadonlyMap<number, readonly number[]>;
}

/** Names of the temp tables of a segment's known records and of its pages. */
export interface KnownTables {
  known: string;
  received: string;
}

const knownTables: KnownTables = { known: 'known', received: 'received_page' };

/** Renames the tables that `findKnownTexts` made for a segment, so that the next call does not replace them. */
export async function keepKnown(database: Database, segment: number): Promise<KnownTables> {
  const names = { known: `known_${segment}`, received: `received_${segment}` };
  await database.run(`alter table ${knownTables.known} rename to ${names.known}`);
  await database.run(`alter table ${knownTables.received} rename to ${names.received}`);
  return names;
}

/** Makes the tables `received_page` and `known` for a segment (sql/load/), and lists its other records. */
export async function findKnownTexts(
  database: Database,
  { name, key }: TableSpec,
  segment: { pages: string },
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
 * The query of the rows for records in `known`. They have the columns by which publish confirms a row, and no values; columns
 * are named as in the typed rows.
 */
export function knownRowsSql(
  spec: TableSpec,
  columns: readonly string[],
  { known, received }: KnownTables = knownTables,
): string {
  const groups = listGroups(spec, columns);
  const groupColumns = groups
    .slice(1)
    .flatMap((group) => [
      `coalesce(own_slot, page_slot) as ${group.slot}`,
      `${carriesGroup(groups, group, 'carried')} as ${group.carried}`,
    ]);
  const key = spec.key.map(quoteName);
  const final = spec.final === null ? [] : [`final as ${quoteName(spec.final)}`];
  return `select task, crawl, page, n, run_id, seen_at, digest, own_slot, coalesce(own_slot, page_slot) as slot,
      ${[...groupColumns, ...final, ...key].join(', ')}, row_hash
    from ${known} join ${received} using (end_offset)`;
}
