import { partitionForm } from '../config/config-schema.ts';
import { UsageError } from '../errors.ts';
import { quoteName, quoteText } from '../sql-text.ts';

/** One level of a table's folders: a column, or the year, month or day of a time. */
export interface Partition {
  column: string;
  unit: 'year' | 'month' | 'day' | null;
  /** The column that readers find in the path: `mint=…`, `block_time_day=2026-01-31`. */
  name: string;
}

/** Reads `mint` or `day(block_time)`. Pure. @param text fits `partitionForm` */
export function parsePartition(text: string): Partition {
  const [, plain, unit, of] = partitionForm.exec(text)!;
  if (plain !== undefined) return { column: plain, unit: null, name: plain };
  return { column: of!, unit: unit as Partition['unit'], name: `${of}_${unit}` };
}

const unitFormat = { year: '%Y', month: '%Y-%m', day: '%Y-%m-%d' };

/** SQL of the value in the path, as text; NULL where the column is NULL. @param from the table's name and a dot, where needed */
export function partitionValue({ column, unit }: Partition, from = ''): string {
  const value = `${from}${quoteName(column)}`;
  return unit === null ? `${value}::varchar` : `strftime(${value}, ${quoteText(unitFormat[unit])})`;
}

/** The type that DuckDB gives the column when it reads the folders. */
export function partitionType({ unit }: Partition, columnType: string): string {
  return { year: 'BIGINT', month: 'VARCHAR', day: 'DATE', none: columnType }[unit ?? 'none'];
}

/** @param place where the config sets it @throws UsageError for a column that the table does not have, or that no folder can show */
export function checkPartitions(
  table: string,
  columns: readonly { name: string; type: string }[],
  { partitionBy, place }: { partitionBy: readonly string[]; place: string },
): void {
  for (const { column, unit } of partitionBy.map(parsePartition)) {
    const type = columns.find(({ name }) => name === column)?.type;
    if (type === undefined)
      throw new UsageError(
        `${place}: ${table} has no column "${column}"`,
        `Its columns are ${columns.map(({ name }) => name).join(', ')}.`,
      );
    // Readers guess a folder's type: what they would guess wrong stays in the files.
    const fitting = unit === null ? /^(VARCHAR|BOOLEAN|BIGINT|INTEGER|DATE)$/ : /^(TIMESTAMP|DATE)/;
    if (fitting.test(type)) continue;
    throw new UsageError(
      `${place}: ${table} cannot be split by ${unit === null ? column : `${unit}(${column})`}, a column of type ${type}`,
      'Choose a column of texts, integers or booleans, or year(…), month(…) or day(…) of a time.',
    );
  }
}
