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
  type DataType,
  DateDay,
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
import { duckdb } from '../warehouse/duckdb.ts';
import {
  type ArrowColumn,
  booleans,
  bytes,
  decimals,
  numbers,
  offsetsOf,
  validity,
  wide,
} from './arrow-values.ts';
import { cellText } from './value-text.ts';

const { DuckDBTypeId: id } = duckdb;

/**
 * The Arrow column for a DuckDB type: u64 is Uint64, HUGEINT is Decimal(38, 0), TIMESTAMPTZ has the zone UTC;
 * lists, structs and maps stay what they are. Types that Arrow lacks (UUID, INTERVAL, ENUM, BIT, UNION) become text.
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
  const [keys, items] = [arrowColumn(keyType), arrowColumn(valueType)];
  const pair = new Struct<{ key: DataType; value: DataType }>([
    new Field('key', keys.type, false),
    new Field('value', items.type, true),
  ]);
  const type = new Map_(new Field('entries', pair, false));
  return {
    type,
    make(values) {
      const parts = values.map((value) => (value === null ? [] : (value as DuckDBMapValue).entries));
      const pairs = parts.flat();
      const children = [keys.make(pairs.map(({ key }) => key)), items.make(pairs.map(({ value }) => value))];
      const child = makeData({ type: pair, length: pairs.length, nullCount: 0, children });
      return makeData({
        ...{ type, length: values.length, ...validity(values) },
        ...{ valueOffsets: offsetsOf(parts), child },
      } as never);
    },
  };
}
