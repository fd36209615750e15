/**
 * A JSON reader for oracles: numbers stay as written, strings are decoded, of duplicate keys the first counts,
 * `__proto__` is a key like any other, and every object and array knows its own text. Shares nothing with `src/`.
 */
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

/** A number as it stands in the text. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const texts = new WeakMap<object, string>();

/** The text an object or array was read from. */
export function textOf(node: Json | undefined): string {
  const text = node === null || typeof node !== 'object' ? undefined : texts.get(node);
  if (text === undefined) throw new Error('not an object or array that parseExact made');
  return text;
}

/** @throws SyntaxError when the text is not one JSON value */
export function parseExact(text: string): Json {
  const token =
    /\s*([{}[\]:,]|"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)\s*/y;
  let pos = 0;
  let start = 0;
  const next = (): string => {
    token.lastIndex = pos;
    const match = token.exec(text);
    if (match === null) throw new SyntaxError(`no JSON at ${pos}: ${text.slice(pos, pos + 40)}`);
    start = pos + match[0].indexOf(match[1] as string);
    pos = token.lastIndex;
    return match[1] as string;
  };
  const peek = () => /\S/.exec(text.slice(pos, pos + 100))?.[0];
  /** Calls `read` until the closing bracket, over commas. */
  const list = (close: string, read: () => void): void => {
    if (peek() === close) {
      next();
      return;
    }
    for (;;) {
      read();
      const after = next();
      if (after === close) return;
      if (after !== ',') throw new SyntaxError(`expected , or ${close} at ${start}`);
    }
  };
  const read = (): Json => {
    const first = next();
    const from = start;
    if (first === '{' || first === '[') {
      const members: JsonObject = new Map();
      const elements: Json[] = [];
      if (first === '[') list(']', () => elements.push(read()));
      else
        list('}', () => {
          const key = JSON.parse(next()) as string;
          if (next() !== ':') throw new SyntaxError(`expected : at ${start}`);
          const value = read();
          if (!members.has(key)) members.set(key, value);
        });
      const node = first === '[' ? elements : members;
      texts.set(node, text.slice(from, start + 1));
      return node;
    }
    if (first.startsWith('"')) return JSON.parse(first) as string;
    if (/^[-\d]/.test(first)) return new JsonNumber(first);
    if (!/^[tfn]/.test(first)) throw new SyntaxError(`a stray ${first} at ${start}`);
    return first === 'null' ? null : first === 'true';
  };
  const value = read();
  if (pos !== text.length) throw new SyntaxError(`more text at ${pos}`);
  return value;
}

/** The value at a path of keys; undefined where there is none. */
export function at(node: Json | undefined, ...path: string[]): Json | undefined {
  let current = node;
  for (const key of path) current = current instanceof Map ? current.get(key) : undefined;
  return current;
}

/**
 * One text for all texts of one value: keys sorted, no spaces. Fractions and exponents are read as doubles, because
 * that is how DuckDB's JSON reader takes them; whole numbers are exact.
 */
export function canonical(node: Json): string {
  if (node instanceof JsonNumber) return numberText(node);
  if (Array.isArray(node)) return `[${node.map(canonical).join(',')}]`;
  if (!(node instanceof Map)) return JSON.stringify(node);
  const members = [...node].map(([key, value]) => `${JSON.stringify(key)}:${canonical(value)}`);
  return `{${members.sort().join(',')}}`;
}

/** A number as DuckDB writes it: `0.10` is `0.1`, `1e3` is `1000.0`, whole numbers as they are. */
export function numberText({ text }: JsonNumber): string {
  if (/^-?\d+$/.test(text)) return text;
  const short = String(Number(text));
  return /[.e]/.test(short) ? short : `${short}.0`;
}
