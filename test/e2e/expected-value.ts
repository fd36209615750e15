import { type Json, JsonNumber, numberText } from './exact-json.ts';

/** What a column of the model takes (DESIGN: "What the rows mean"). */
export type Kind =
  | 'text'
  | 'reference'
  | 'only text'
  | 'address'
  | 'u64'
  | 'i64'
  | 'i32'
  | 'double'
  | 'boolean';

/** A column's value as the tests read it from DuckDB: 64-bit numbers as text. */
export type Value = null | boolean | string | number;

const bounds = {
  u64: [0n, 2n ** 64n - 1n],
  i64: [-(2n ** 63n), 2n ** 63n - 1n],
  i32: [-(2n ** 31n), 2n ** 31n - 1n],
} as const;

/** A field's value, and whether it said something that the column could not take. */
export function readField(node: Json | undefined, kind: Kind): { value: Value; castError: boolean } {
  const text = textOfField(node);
  const fits = typeof node === 'string' || !['only text', 'address'].includes(kind);
  const value = text === null || !fits ? null : convert(text, kind);
  return { value, castError: text !== null && text !== '' && value === null };
}

function convert(text: string, kind: Kind): Value {
  if (kind === 'text' || kind === 'only text') return text;
  if (kind === 'reference' || kind === 'address') return text === '' ? null : text;
  if (kind === 'boolean') return text === 'true' ? true : text === 'false' ? false : null;
  if (kind === 'double') return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? finite(Number(text)) : null;
  const whole = wholeNumber(text);
  const [low, high] = bounds[kind];
  if (whole === null || whole < low || whole > high) return null;
  return kind === 'i32' ? Number(whole) : String(whole);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

/** `5`, `5.0`, `1e3` and `50e-1` are whole numbers; `1.5` is none. */
export function wholeNumber(text: string): bigint | null {
  const [, sign, digits, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (digits === undefined || Math.abs(Number(exponent)) > 400) return null;
  const scale = Number(exponent) - fraction.length;
  const mantissa = BigInt(`${sign}${digits}${fraction}`);
  if (scale >= 0) return mantissa * 10n ** BigInt(scale);
  const divisor = 10n ** BigInt(-scale);
  return mantissa % divisor === 0n ? mantissa / divisor : null;
}

/** A field as text: a string's content, any other value's JSON; null for none. */
export function textOfField(node: Json | undefined): string | null {
  if (node === null || node === undefined) return null;
  if (typeof node === 'string') return node;
  return compact(node);
}

function compact(node: Json): string {
  if (node instanceof JsonNumber) return numberText(node);
  if (Array.isArray(node)) return `[${node.map(compact).join(',')}]`;
  if (node instanceof Map)
    return `{${[...node].map(([key, value]) => `${JSON.stringify(key)}:${compact(value)}`).join(',')}}`;
  return JSON.stringify(node);
}

/** Half of a surrogate pair as an escape: JSON, but no text. */
export function hasLoneSurrogate(text: string): boolean {
  const escapes = /\\(?:u([dD][89abAB]..\\u[dD][c-fC-F]..|[dD][89a-fA-F]..)|.)/g;
  return [...text.matchAll(escapes)].some(([, codes]) => codes?.length === 4);
}
