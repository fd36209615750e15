import type { DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { Value } from '../library-types.ts';
import { duckdb } from '../warehouse/duckdb.ts';
import { asQueryError, type QueryResult } from '../warehouse/query.ts';
import { cellText } from './value-text.ts';

const { DuckDBArrayType, DuckDBArrayValue, DuckDBListType, DuckDBListValue } = duckdb;
const { DuckDBMapType, DuckDBMapValue, DuckDBStructType, DuckDBStructValue } = duckdb;
const { DuckDBUnionType, DuckDBUnionValue } = duckdb;

/** All rows of a result, exact. @throws UsageError with what DuckDB says */
export async function rowValues({ columns, rows }: QueryResult): Promise<Record<string, Value>[]> {
  const all: Record<string, Value>[] = [];
  try {
    for await (const chunk of rows())
      for (const row of chunk)
        all.push(
          Object.fromEntries(columns.map(({ name, type }, n) => [name, plainValue(row[n] ?? null, type)])),
        );
  } catch (error) {
    throw asQueryError(error);
  }
  return all;
}

/** What JavaScript has no exact value for (decimals, times, blobs) as text. */
function plainValue(value: DuckDBValue, type: DuckDBType): Value {
  if (value === null || typeof value !== 'object') return value;
  if (
    (value instanceof DuckDBListValue && type instanceof DuckDBListType) ||
    (value instanceof DuckDBArrayValue && type instanceof DuckDBArrayType)
  )
    return value.items.map((item) => plainValue(item, type.valueType));
  if (value instanceof DuckDBStructValue && type instanceof DuckDBStructType)
    return Object.fromEntries(
      type.entryNames.map((name, n) => [name, plainValue(value.entries[name] ?? null, type.entryTypes[n]!)]),
    );
  if (value instanceof DuckDBMapValue && type instanceof DuckDBMapType)
    return Object.fromEntries(
      value.entries.map((entry) => [
        cellText(entry.key, type.keyType),
        plainValue(entry.value, type.valueType),
      ]),
    );
  if (value instanceof DuckDBUnionValue && type instanceof DuckDBUnionType)
    return plainValue(value.value, type.memberTypeForTag(value.tag));
  return cellText(value, type);
}
