import { UsageError } from '../errors.ts';
import { quoteName } from '../sql-text.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** One version of a row, with its values and its time. */
export interface RowVersion {
  valid_from: string | null;
  /** Null: it is current. */
  valid_to: string | null;
  valid_from_slot: string | null;
  valid_to_slot: string | null;
  /** Why the row left, where no other version followed. */
  gone_reason: string | null;
  run_id: string;
  /** When each group was last seen; ISO 8601. */
  seen: Readonly<Record<string, string | null>>;
  /** Its columns as text, NULL as null: exact, lists and structs as JSON. */
  values: Readonly<Record<string, string | null>>;
}

/** Rows listed where part of a key matches several. */
const maxListed = 10;

/**
 * Completes a key: the values of all key columns.
 * @param given values of the first columns
 * @throws UsageError where several rows match, or none, or there are too many values
 */
export async function findKey(
  database: Database,
  spec: TableSpec,
  given: readonly string[],
): Promise<readonly string[]> {
  if (given.length > spec.key.length)
    throw new UsageError(
      `a key of ${spec.name} has ${spec.key.length} values, not ${given.length}`,
      `Give them in this order: ${spec.key.join(' ')}`,
    );
  if (given.length === spec.key.length) return given;
  const columns = spec.key.map(quoteName);
  const sources = [spec.name, ...(spec.history ? [`past.${spec.name}`] : [])];
  const where = given.map((_, n) => `${columns[n]}::varchar = $key_${n}`).join(' and ');
  const rows = await database.rows<Record<string, string>>(
    `select distinct columns(*)::varchar
    from (${sources.map((source) => `select ${columns.join(', ')} from ${source} where ${where}`).join(' union all ')})
    order by all limit ${maxListed + 1}`,
    Object.fromEntries(given.map((value, n) => [`key_${n}`, value])),
  );
  const keys = rows.map((row) => spec.key.map((column) => row[column]!));
  if (keys.length === 1) return keys[0]!;
  if (keys.length === 0)
    throw new UsageError(
      `${spec.name} has no row whose key begins with ${given.join(' ')}`,
      `A key has these values, in this order: ${spec.key.join(' ')}`,
    );
  const shown = keys.slice(0, maxListed).map((key) => `\n  ledgerlake explain ${spec.name} ${key.join(' ')}`);
  throw new UsageError(
    `several rows of ${spec.name} have a key that begins with ${given.join(' ')}`,
    `Name one of them by its whole key (${spec.key.join(' ')}):${shown.join('')}${keys.length > maxListed ? '\n  …' : ''}`,
  );
}

/** Every version of a row, newest first; without history, the current row, if there is one. */
export async function readVersions(
  database: Database,
  spec: TableSpec,
  key: readonly string[],
): Promise<RowVersion[]> {
  const columns = await listColumns(database, spec.name);
  const groups = listGroups(spec, columns);
  const from = columns.includes('changed_at') ? 'changed_at' : 'seen_at';
  // Only current rows have a value in `followed`.
  const textOf = (column: string, ended: boolean) =>
    ended && column === 'followed' ? 'null::varchar' : asText(spec, column);
  const select = (source: string, ended: boolean) => `
    select
      ${isoText(from)} as valid_from,
      ${ended ? isoText('valid_to') : 'null::varchar'} as valid_to,
      changed_slot::varchar as valid_from_slot,
      ${ended ? 'valid_to_slot::varchar' : 'null::varchar'} as valid_to_slot,
      ${ended ? 'gone_reason' : 'null::varchar'} as gone_reason,
      run_id,
      {${groups.map(({ name, seenAt }) => `'${name}': ${isoText(seenAt)}`).join(', ')}} as seen,
      {${columns.map((column) => `${quoteName(column)}: ${textOf(column, ended)}`).join(', ')}} as "values"
    from ${source}
    where ${spec.key.map((column, n) => `${quoteName(column)}::varchar = $key_${n}`).join(' and ')}`;
  const past = spec.history ? ` union all ${select(`past.${spec.name}`, true)}` : '';
  return database.rows<RowVersion>(
    `${select(spec.name, false)}${past} order by valid_to desc nulls first, valid_from desc`,
    Object.fromEntries(key.map((value, n) => [`key_${n}`, value])),
  );
}

/** A time as in the page lines: ISO 8601 in UTC, with milliseconds. */
function isoText(column: string): string {
  return `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%gZ')`;
}

function asText({ types }: TableSpec, column: string): string {
  const type = types.get(column) ?? '';
  if (type === 'timestamptz') return isoText(column);
  return /[([]/.test(type) ? `to_json(${quoteName(column)})::varchar` : `${quoteName(column)}::varchar`;
}
