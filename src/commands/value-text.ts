import type { DuckDBTimestampTZValue, DuckDBType, DuckDBValue } from '@duckdb/node-api';
import type { Value } from '../library-types.ts';
import { duckdb } from '../warehouse/duckdb.ts';
import { asQueryError, type QueryResult } from '../warehouse/query.ts';

const {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBUnionType,
  DuckDBUnionValue,
} = duckdb;

/**
 * A value of a query as JSON, exactly: u64, HUGEINT and decimals as numbers with all their digits, a JSON column as
 * the JSON it holds, times as ISO 8601 in UTC, and what JSON cannot express (NaN, infinity, blobs) as text.
 */
export function jsonText(value: DuckDBValue, type: DuckDBType): string {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') {
    // Valid JSON has raw line breaks only between tokens; one would end a line of ndjson.
    return type.alias === 'JSON' ? value.replace(/[\r\n]/g, ' ') : JSON.stringify(value);
  }
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (value instanceof DuckDBDecimalValue) return value.toString();
  return nestedText(value, type) ?? JSON.stringify(plainText(value));
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

function nestedText(value: DuckDBValue, type: DuckDBType): string | null {
  if (value instanceof DuckDBStructValue && type instanceof DuckDBStructType) {
    const members = type.entryNames.map((name, n) => {
      return `${JSON.stringify(name)}:${jsonText(value.entries[name] ?? null, type.entryTypes[n]!)}`;
    });
    return `{${members.join(',')}}`;
  }
  if (
    (value instanceof DuckDBListValue && type instanceof DuckDBListType) ||
    (value instanceof DuckDBArrayValue && type instanceof DuckDBArrayType)
  ) {
    return `[${value.items.map((item) => jsonText(item, type.valueType)).join(',')}]`;
  }
  if (value instanceof DuckDBMapValue && type instanceof DuckDBMapType) {
    const members = value.entries.map(
      ({ key, value: item }) => `${JSON.stringify(plainText(key))}:${jsonText(item, type.valueType)}`,
    );
    return `{${members.join(',')}}`;
  }
  if (value instanceof DuckDBUnionValue && type instanceof DuckDBUnionType) {
    return jsonText(value.value, type.memberTypeForTag(value.tag));
  }
  return null;
}

/** A value as bare text, for CSV and for people; lists and structs as JSON, NULL as ''. */
export function cellText(value: DuckDBValue, type: DuckDBType): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'object') return nestedText(value, type) ?? plainText(value);
  return plainText(value);
}

function plainText(value: DuckDBValue): string {
  if (value instanceof duckdb.DuckDBTimestampTZValue) return utcText(value);
  return Object.is(value, -0) ? '-0.0' : String(value);
}

// 0001-01-01 to 9999-12-31: ISO 8601 has no other years, so DuckDB's notation is kept for those.
const firstMicros = -62_135_596_800_000_000n;
const lastMicros = 253_402_300_799_999_999n;

/** `2026-01-01T00:00:00Z`, with 0 to 6 decimals as needed. */
function utcText(value: DuckDBTimestampTZValue): string {
  const { micros } = value;
  if (micros < firstMicros || micros > lastMicros) return value.toString();
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((micros - fraction) / 1000n)).toISOString().slice(0, 19);
  const decimals = fraction === 0n ? '' : `.${String(fraction).padStart(6, '0').replace(/0+$/, '')}`;
  return `${seconds}${decimals}Z`;
}

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

/** A value for JavaScript; decimals, times and blobs, which it cannot hold exactly, as text. */
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
