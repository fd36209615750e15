import type { DuckDBValue } from '@duckdb/node-api';
import { type Binary, Bool, type Data, type DataType, Decimal, makeData, type Utf8 } from 'apache-arrow';
import { UsageError } from '../errors.ts';

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

/** A bitmap of the values that are not NULL, and the number of NULLs. */
export function validity(values: readonly DuckDBValue[]): { nullBitmap: Uint8Array; nullCount: number } {
  const nullBitmap = new Uint8Array(Math.ceil(values.length / 8));
  let nullCount = 0;
  for (const [n, value] of values.entries()) {
    if (value === null) nullCount += 1;
    else nullBitmap[n >> 3]! |= 1 << (n & 7);
  }
  return { nullBitmap, nullCount };
}

export function booleans(): ArrowColumn {
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

export function numbers(
  type: DataType,
  allocate: (length: number) => Numbers,
  read = (value: DuckDBValue) => value as number,
): ArrowColumn {
  return filled(type, (length) => allocate(length) as ArrayLike<number>, read);
}

export function wide(
  type: DataType,
  allocate: (length: number) => Wide,
  read = (value: DuckDBValue) => value as bigint,
): ArrowColumn {
  return filled(type, (length) => allocate(length) as ArrayLike<bigint>, read);
}

/** A column in one typed array, which keeps its initial value where the column is NULL. */
function filled<Value>(
  type: DataType,
  allocate: (length: number) => ArrayLike<Value>,
  read: (value: DuckDBValue) => Value,
): ArrowColumn {
  return {
    type,
    make(values) {
      const data = allocate(values.length) as Value[];
      for (const [n, value] of values.entries()) if (value !== null) data[n] = read(value);
      return makeData({ type, length: values.length, ...validity(values), data } as never);
    },
  };
}

const decimalLimit = 10n ** 38n;

/** 16 bytes a value: its digits without the point, in two's complement. */
export function decimals(width: number, scale: number, read: (value: DuckDBValue) => bigint): ArrowColumn {
  const type = new Decimal(scale, width, 128);
  return {
    type,
    make(values) {
      const words = new BigUint64Array(values.length * 2);
      for (const [n, value] of values.entries()) {
        if (value === null) continue;
        const digits = read(value);
        if (digits >= decimalLimit || digits <= -decimalLimit)
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

/** Texts and blobs: their bytes one after the other, and the offset of each. */
export function bytes(type: Utf8 | Binary, read: (value: DuckDBValue) => Uint8Array): ArrowColumn {
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

export function offsetsOf(parts: readonly { length: number }[]): Int32Array {
  const offsets = new Int32Array(parts.length + 1);
  for (const [n, { length }] of parts.entries()) offsets[n + 1] = offsets[n]! + length;
  return offsets;
}
