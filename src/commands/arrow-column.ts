import type {
  DuckDBArrayType,
  DuckDBArrayValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalType,
  DuckDBDecimalValue,
  DuckDBListType,
  DuckDBListValue,
  DuckDBMapType,
  DuckDBMapValue,
  DuckDBStructType,
  DuckDBStructValue,
  DuckDBTimestampTZValue,
  DuckDBTimeValue,
  DuckDBType,
  DuckDBValue,
} from '@duckdb/node-api';
import {
  Binary,
  Bool,
  type Data,
  type DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int8,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  makeData,
  Null,
  Struct,
  TimeMicrosecond,
  Timestamp,
  TimeUnit,
  Uint8,
  Uint16,
  Uint32,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { UsageError } from '../errors.ts';
import { duckdb } from '../warehouse/duckdb.ts';
import { cellText } from './value-text.ts';

const { DuckDBTypeId: id } = duckdb;

/** A column's type in Arrow, and how its values become that. */
export interface ArrowColumn {
  type: DataType;
  /** @throws UsageError for a HUGEINT of 39 digits, which no decimal of Arrow's holds */
  make(values: readonly DuckDBValue[]): Data;
}

type Numbers =
  | Float64Array
  | Float32Array
  | Int32Array
  | Int16Array
  | Int8Array
  | Uint8Array
  | Uint16Array
  | Uint32Array;
type Wide = BigInt64Array | BigUint64Array;

/**
 * How values of a DuckDB type stand in Arrow: u64 as Uint64, HUGEINT as Decimal(38, 0), lists, structs and maps as such,
 * TIMESTAMPTZ with the zone UTC. What Arrow has no type for (UUID, INTERVAL, ENUM, BIT, UNION) is its text.
 */
export function arrowColumn(type: DuckDBType): ArrowColumn {
  switch (type.typeId) {
    case id.SQLNULL:
      return { type: new Null(), make: (values) => makeData({ type: new Null(), length: values.length }) };
    case id.BOOLEAN:
      return booleans();
    case id.TINYINT:
      return numbers(new Int8(), (length) => new Int8Array(length));
    case id.SMALLINT:
      return numbers(new Int16(), (length) => new Int16Array(length));
    case id.INTEGER:
      return numbers(new Int32(), (length) => new Int32Array(length));
    case id.UTINYINT:
      return numbers(new Uint8(), (length) => new Uint8Array(length));
    case id.USMALLINT:
      return numbers(new Uint16(), (length) => new Uint16Array(length));
    case id.UINTEGER:
      return numbers(new Uint32(), (length) => new Uint32Array(length));
    case id.FLOAT:
      return numbers(new Float32(), (length) => new Float32Array(length));
    case id.DOUBLE:
      return numbers(new Float64(), (length) => new Float64Array(length));
    case id.DATE:
      return numbers(
        new DateDay(),
        (length) => new Int32Array(length),
        (value) => (value as DuckDBDateValue).days,
      );
    case id.BIGINT:
      return wide(new Int64(), signed);
    case id.UBIGINT:
      return wide(new Uint64(), (length) => new BigUint64Array(length));
    case id.TIME:
      return wide(new TimeMicrosecond(), signed, (value) => (value as DuckDBTimeValue).micros);
    case id.TIMESTAMP_S:
      return wide(
        new Timestamp(TimeUnit.SECOND),
        signed,
        (value) => (value as unknown as { seconds: bigint }).seconds,
      );
    case id.TIMESTAMP_MS:
      return wide(
        new Timestamp(TimeUnit.MILLISECOND),
        signed,
        (value) => (value as unknown as { millis: bigint }).millis,
      );
    case id.TIMESTAMP_NS:
      return wide(
        new Timestamp(TimeUnit.NANOSECOND),
        signed,
        (value) => (value as unknown as { nanos: bigint }).nanos,
      );
    case id.TIMESTAMP:
      return wide(new Timestamp(TimeUnit.MICROSECOND), signed, micros);
    case id.TIMESTAMP_TZ:
      return wide(new Timestamp(TimeUnit.MICROSECOND, 'UTC'), signed, micros);
    case id.HUGEINT:
    case id.UHUGEINT:
      return decimals(38, 0, (value) => value as bigint);
    case id.DECIMAL: {
      const { width, scale } = type as DuckDBDecimalType;
      return decimals(width, scale, (value) => (value as DuckDBDecimalValue).value);
    }
    case id.BLOB:
      return bytes(new Binary(), (value) => (value as DuckDBBlobValue).bytes);
    case id.LIST:
      return lists(type as DuckDBListType);
    case id.ARRAY:
      return arrays(type as DuckDBArrayType);
    case id.STRUCT:
      return structs(type as DuckDBStructType);
    case id.MAP:
      return maps(type as DuckDBMapType);
    default:
      return bytes(new Utf8(), (value) => encoder.encode(cellText(value, type)));
  }
}

const encoder = new TextEncoder();
const signed = (length: number) => new BigInt64Array(length);
const micros = (value: DuckDBValue) => (value as DuckDBTimestampTZValue).micros;

/** Which values are there, a bit each, and how many are not. */
function validity(values: readonly DuckDBValue[]): { nullBitmap: Uint8Array; nullCount: number } {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  for (const [n, value] of values.entries()) {
    if (value === null) nullCount += 1;
    else nullBitmap[n >> 3]! |= 1 << (n & 7);
  }
  return { nullBitmap, nullCount };
}

function booleans(): ArrowColumn {
  const type = new Bool();
  return {
    type,
    make(values) {
      const data = new Uint8Array(Math.ceil(values.length / 8));
      for (const [n, value] of values.entries()) if (value === true) data[n >> 3]! |= 1 << (n & 7);
      return makeData({ type, length: values.length, ...validity(values), data });
    },
  };
}

function numbers(
  type: DataType,
  allocate: (length: number) => Numbers,
  read = (value: DuckDBValue) => value as number,
): ArrowColumn {
  return {
    type,
    make(values) {
      const data = allocate(values.length);
      for (const [n, value] of values.entries()) if (value !== null) data[n] = read(value);
      return makeData({ type, length: values.length, ...validity(values), data } as never);
    },
  };
}

function wide(
  type: DataType,
  allocate: (length: number) => Wide,
  read = (value: DuckDBValue) => value as bigint,
): ArrowColumn {
  return {
    type,
    make(values) {
      const data = allocate(values.length);
      for (const [n, value] of values.entries()) if (value !== null) data[n] = read(value);
      return makeData({ type, length: values.length, ...validity(values), data } as never);
    },
  };
}

const mostOfDecimal = 10n ** 38n;

/** 16 bytes a value: its digits without the point, in two's complement. */
function decimals(width: number, scale: number, read: (value: DuckDBValue) => bigint): ArrowColumn {
  const type = new Decimal(scale, width, 128);
  return {
    type,
    make(values) {
      const words = new BigUint64Array(values.length * 2);
      for (const [n, value] of values.entries()) {
        if (value === null) continue;
        const digits = read(value);
        if (digits >= mostOfDecimal || digits <= -mostOfDecimal)
          throw new UsageError(
            `${digits} has more digits than a decimal of Arrow's holds (38)`,
            'Cast the column to text in the query: column::varchar.',
          );
        words[2 * n] = BigInt.asUintN(64, digits);
        words[2 * n + 1] = BigInt.asUintN(64, digits >> 64n);
      }
      const data = new Uint32Array(words.buffer);
      return makeData({ type, length: values.length, ...validity(values), data });
    },
  };
}

/** Texts and blobs: all bytes in a row, and where each begins. */
function bytes(type: Utf8 | Binary, read: (value: DuckDBValue) => Uint8Array): ArrowColumn {
  return {
    type,
    make(values) {
      const parts = values.map((value) => (value === null ? new Uint8Array() : read(value)));
      const valueOffsets = offsetsOf(parts);
      const data = new Uint8Array(valueOffsets.at(-1)!);
      for (const [n, part] of parts.entries()) data.set(part, valueOffsets[n]);
      return makeData({ type, length: values.length, ...validity(values), valueOffsets, data } as never);
    },
  };
}

function offsetsOf(parts: readonly { length: number }[]): Int32Array {
  const offsets = new Int32Array(parts.length + 1);
  for (const [n, { length }] of parts.entries()) offsets[n + 1] = offsets[n]! + length;
  return offsets;
}

function lists({ valueType }: DuckDBListType): ArrowColumn {
  const item = arrowColumn(valueType);
  const type = new List(new Field('item', item.type, true));
  return {
    type,
    make(values) {
      const parts = values.map((value) => (value === null ? [] : (value as DuckDBListValue).items));
      return makeData({
        ...{ type, length: values.length, ...validity(values) },
        ...{ valueOffsets: offsetsOf(parts), child: item.make(parts.flat()) },
      });
    },
  };
}

function arrays({ valueType, length }: DuckDBArrayType): ArrowColumn {
  const item = arrowColumn(valueType);
  const type = new FixedSizeList(length, new Field('item', item.type, true));
  const none = Array.from({ length }, () => null);
  return {
    type,
    make(values) {
      const items = values.flatMap((value) => (value === null ? none : (value as DuckDBArrayValue).items));
      return makeData({ type, length: values.length, ...validity(values), child: item.make(items) });
    },
  };
}

function structs({ entryNames, entryTypes }: DuckDBStructType): ArrowColumn {
  const members = entryTypes.map(arrowColumn);
  const type = new Struct(members.map((member, n) => new Field(entryNames[n]!, member.type, true)));
  return {
    type,
    make(values) {
      const children = members.map((member, n) =>
        member.make(
          values.map((value) =>
            value === null ? null : ((value as DuckDBStructValue).entries[entryNames[n]!] ?? null),
          ),
        ),
      );
      return makeData({ type, length: values.length, ...validity(values), children });
    },
  };
}

function maps({ keyType, valueType }: DuckDBMapType): ArrowColumn {
  const [key, item] = [arrowColumn(keyType), arrowColumn(valueType)];
  const pair = new Struct<{ key: DataType; value: DataType }>([
    new Field('key', key.type, false),
    new Field('value', item.type, true),
  ]);
  const type = new Map_(new Field('entries', pair, false));
  return {
    type,
    make(values) {
      const parts = values.map((value) => (value === null ? [] : (value as DuckDBMapValue).entries));
      const pairs = parts.flat();
      const children = [key.make(pairs.map((one) => one.key)), item.make(pairs.map(({ value }) => value))];
      const child = makeData({ type: pair, length: pairs.length, nullCount: 0, children });
      return makeData({
        ...{ type, length: values.length, ...validity(values) },
        ...{ valueOffsets: offsetsOf(parts), child },
      } as never);
    },
  };
}
