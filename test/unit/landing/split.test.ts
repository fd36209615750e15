import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_DEPTH,
  MalformedPage,
  type SplitPage,
  sliceEnvelope,
  sliceResult,
  splitPage,
} from '../../../src/landing/split.ts';
import type { RecordsAt } from '../../../src/operations/operation.ts';
import { bar, showFigure } from '../../bars.ts';
import { readSeed } from '../../support/random.ts';

const totalRuns = bar('documents');
const seed = readSeed();

/** Checks a property on its share of the documents. */
function assertShare<T>(part: number, property: fc.IProperty<T>): void {
  const numRuns = Math.ceil(totalRuns * part);
  fc.assert(property, { numRuns, seed });
  showFigure('documents', { done: numRuns, seed });
}

const items: RecordsAt = { path: ['items'], form: 'array' };

function split(text: string, at: RecordsAt = items): SplitPage {
  return splitPage(Buffer.from(text), at);
}

function texts(page: SplitPage): string[] {
  return page.records.map((record) => record.bytes.toString());
}

/** Not only the same ArrayBuffer: small Buffers share one. */
function isView(bytes: Buffer, body: Buffer): boolean {
  const start = bytes.byteOffset - body.byteOffset;
  return bytes.buffer === body.buffer && start >= 0 && start + bytes.length <= body.length;
}

describe('splitPage', () => {
  it('slices an enveloped array and leaves the rest', () => {
    const page = split(
      '{"jsonrpc":"2.0","result":{"total":2,"items":[{"n":18446744073709551615}, 1.10],"cursor":"c"},"id":"1"}',
    );
    expect(texts(page)).toEqual(['{"n":18446744073709551615}', '1.10']);
    expect(page.envelope).toEqual({ jsonrpc: '2.0', result: { total: 2, items: [], cursor: 'c' }, id: '1' });
    expect(page.enveloped).toBe(true);
  });

  it('slices views into the body, and copies only to join lines', () => {
    const body = Buffer.from('{"items":[{"a": 1},{"b":\r\n2\n}\n]}');
    const [view, copy] = splitPage(body, items).records;
    expect(isView(view!.bytes, body)).toBe(true);
    expect(isView(copy!.bytes, body)).toBe(false);
    expect(copy?.bytes).toEqual(Buffer.from('{"b":  2 }'));
    expect(body.toString()).toContain('\r\n2\n');
  });

  it('keeps null elements', () => {
    expect(texts(split('{"result":{"items":[null,{"id":"a"},null]}}'))).toEqual([
      'null',
      '{"id":"a"}',
      'null',
    ]);
  });

  it('reads keyed members in order, each with its decoded key', () => {
    const page = split('{"result":{"by":{"2":{"n":1},"a\\u0062":null,"__proto__":[],"2":3}}}', {
      path: ['by'],
      form: 'keyed',
    });
    expect(page.records.map(({ key, bytes }) => [key, bytes.toString()])).toEqual([
      ['2', '{"n":1}'],
      ['ab', 'null'],
      ['__proto__', '[]'],
      ['2', '3'],
    ]);
    expect(page.envelope).toEqual({ result: { by: {} } });
  });

  it.each([
    ['{"result":{"id":"a"}}', ['{"id":"a"}'], { result: null }, true],
    ['{"result":null}', ['null'], { result: null }, true],
    [' {"id":"a"}\n', ['{"id":"a"}'], null, false],
    ['[1]', ['[1]'], null, false],
    ['{"jsonrpc":"2.0","error":{"code":-32000}}', [], { jsonrpc: '2.0', error: { code: -32000 } }, false],
  ])('reads a single record at the result itself: %s', (text, records, envelope, enveloped) => {
    const page = split(text, { path: [], form: 'single' });
    const { envelopeText, ...rest } = page;
    expect({ ...rest, records: texts(page) }).toEqual({ records, envelope, enveloped });
    expect(JSON.parse(envelopeText)).toEqual(envelope);
  });

  it('reads a bare array, a bare keyed object and a bare list', () => {
    expect(texts(split('[{"a":1},2]', { path: [], form: 'array' }))).toEqual(['{"a":1}', '2']);
    expect(texts(split('{"a":1,"b":2}', { path: [], form: 'keyed' }))).toEqual(['1', '2']);
    expect(texts(split('{"items":[1],"more":true}'))).toEqual(['1']);
  });

  it('counts the path from the result wherever it stands', () => {
    for (const text of ['{"items":[1],"result":{"items":[2]}}', '{"result":{"items":[2]},"items":[1]}']) {
      const page = split(text);
      expect(texts(page)).toEqual(['2']);
      expect(page.envelope).toEqual({ items: [1], result: { items: [] } });
    }
    expect(texts(split('{"items":[1],"items":[1],"result":{"items":[2]}}'))).toEqual(['2']);
  });

  it.each([
    '{"result":{"items":null}}',
    '{"result":{"items":"[1]"}}',
    '{"result":{"items":{}}}',
    '{"result":{}}',
    '{"result":[{"items":[1]}]}',
    '{"jsonrpc":"2.0","error":{"items":[1]},"id":"1"}',
    '"items"',
    '0',
  ])('leaves the whole document where there is no list: %s', (text) => {
    const page = split(text);
    expect(page.records).toEqual([]);
    expect(page.envelope).toEqual(JSON.parse(text));
  });

  it.each([
    '{"jsonrpc":"2.0","error":{"code":-32000},"error":null,"result":{"items":[]}}',
    '{"error":{"code":-32000},"result":{"items":[]},"error":null}',
    '{"jsonrpc":"2.0","error":{"code":-32000},"error":{}}',
  ])('refuses an envelope with two errors, of which one would be overlooked: %s', (text) => {
    expect(() => split(text)).toThrow(expect.objectContaining({ name: 'MalformedPage' }));
  });

  it('does not let __proto__ pollute the envelope', () => {
    const { envelope } = split('{"__proto__":{"polluted":1},"items":[]}');
    expect(Object.getPrototypeOf(envelope)).toBe(Object.prototype);
    expect(Object.keys(envelope as object)).toEqual(['__proto__', 'items']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('passes a byte order mark', () => {
    const { records, ...rest } = split('\ufeff{"items":[1],"a":2}');
    expect(records.map(({ bytes, form }) => [bytes.toString(), form])).toEqual([['1', '0']]);
    expect(rest).toEqual({
      envelope: { items: [], a: 2 },
      envelopeText: '{"items":[],"a":2}',
      enveloped: false,
    });
  });

  it.each([
    ['', 0],
    ['{"items":[1]} x', 14],
    ['{"items":[1,]}', 12],
    ['{"items":[01]}', 11],
    ['{"items":["\t"]}', 11],
    ['{"items":["\\x"]}', 12],
    ['{"items":[{"a":1,}]}', 17],
    ['{"items":[{"a":tru}]}', 18],
    ['{"items":[1', 11],
    ['{"result":1,"result":2}', 21],
    ['{"items":[1],"it\\u0065ms":[2]}', 26],
    ['{"result":{"items":1,"items":[2]}}', 29],
  ])('refuses %j at byte %d', (text, offset) => {
    expect(() => split(text)).toThrow(expect.objectContaining({ name: 'MalformedPage', offset }));
  });

  it('refuses what is not UTF-8, and says where', () => {
    const body = Buffer.concat([Buffer.from('{"items":["é'), Buffer.from([0xc3]), Buffer.from('"]}')]);
    expect(() => splitPage(body, items)).toThrow(
      expect.objectContaining({ name: 'MalformedPage', offset: 13 }),
    );
    const surrogate = Buffer.concat([Buffer.from('["'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"]')]);
    expect(() => splitPage(surrogate, items)).toThrow(MalformedPage);
  });
});

describe('depth', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  it('marks records that would break DuckDB, at any depth', () => {
    const objects = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    const page = split(
      `{"items":[${nested(MAX_DEPTH)},${nested(MAX_DEPTH + 1)},${objects},${nested(100_000)},1]}`,
    );
    const deep = 'too-deep';
    expect(page.records.map((record) => record.refusal)).toEqual([undefined, deep, deep, deep, undefined]);
    expect(page.envelope).toEqual({ items: [] });
  });

  it('refuses an envelope that is too deep', () => {
    expect(split(`{"a":${nested(MAX_DEPTH - 1)}}`).records).toEqual([]);
    expect(() => split(`{"a":${nested(MAX_DEPTH)}}`)).toThrow(MalformedPage);
    expect(() => split(`{"a":${nested(100_000)},"items":[]}`)).toThrow(MalformedPage);
    expect(() => split('['.repeat(100_000))).toThrow(expect.objectContaining({ offset: 100_000 }));
  });
});

describe('refusal', () => {
  it('is set exactly where DuckDB refuses', async () => {
    const escapes = [
      '\\ud800',
      '\\udc00',
      '\\udc00\\ud800',
      '\\uD800\\ud800',
      '\\ud800\\n',
      '\\ud800\\u0041',
    ];
    escapes.push('\\uD83D\\ude00', 'a\\u0000b', '\\u001f', '\\uffff', '\u2028');
    const records = escapes.flatMap((text) => [`{"v":"${text}"}`, `{"v":{"${text}":1}}`]);
    records.push(`{"v":${'{"v":'.repeat(MAX_DEPTH - 1)}1${'}'.repeat(MAX_DEPTH)}`);
    const folder = mkdtempSync(join(tmpdir(), 'split-'));
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    try {
      const refusedByDuckDb: string[] = [];
      for (const record of records) {
        writeFileSync(join(folder, 'one.ndjson'), `{"record":${record}}\n`);
        const read = ['VARCHAR', 'JSON', 'STRUCT(v VARCHAR)', 'STRUCT(v JSON)'].map((type) =>
          connection.run(
            `select record from read_json('${join(folder, 'one.ndjson')}', format = 'newline_delimited', columns = {record: '${type}'})`,
          ),
        );
        const refused = (await Promise.allSettled(read)).filter(({ status }) => status === 'rejected').length;
        expect([0, 4]).toContain(refused);
        if (refused > 0) refusedByDuckDb.push(record);
      }
      const page = split(`{"items":[${records.join(',')}]}`);
      expect(page.records.filter((record) => record.refusal).map(({ bytes }) => bytes.toString())).toEqual(
        refusedByDuckDb,
      );
      expect(refusedByDuckDb).toHaveLength(12);
    } finally {
      connection.closeSync();
      rmSync(folder, { recursive: true });
    }
  });

  it('counts the key of a keyed record, and no other record', () => {
    const page = split('{"x":"\\ud800","by":{"\\udc00":1,"b":2,"c":"\\ud800"}}', {
      path: ['by'],
      form: 'keyed',
    });
    expect(page.records.map((record) => record.refusal)).toEqual([
      'lone-surrogate',
      undefined,
      'lone-surrogate',
    ]);
  });
});

describe('the envelope as text', () => {
  const text =
    '{"result":{"total": 18446744073709551615,"items":[1],"at":[9007199254740993, {"n":1.10}]}, "id":1}';

  it('has every number as it came', () => {
    expect(split(text).envelopeText).toBe(text.replace('[1]', '[]'));
  });

  it('gives values of it in their own bytes', () => {
    const slice = (at: RecordsAt) => sliceEnvelope(split(text).envelopeText, at).map(String);
    expect(slice({ path: ['at'], form: 'array' })).toEqual(['9007199254740993', '{"n":1.10}']);
    expect(slice({ path: ['total'], form: 'single' })).toEqual(['18446744073709551615']);
    expect(slice({ path: ['none'], form: 'array' })).toEqual([]);
    expect(slice({ path: ['total'], form: 'array' })).toEqual([]);
  });

  it('of a key that comes twice gives the first', () => {
    expect(sliceEnvelope('{"at":[1],"at":[2]}', { path: ['at'], form: 'array' }).map(String)).toEqual(['1']);
  });
});

describe('sliceResult', () => {
  it.each([
    [
      '{"id":1,"result": {"n": 18446744073709551615 ,\n"a":1.10} }',
      '{"n": 18446744073709551615 ,\n"a":1.10}',
    ],
    ['{"result":null}', 'null'],
    [' [1, 2]\n', '[1, 2]'],
    ['{"a": 1}', '{"a": 1}'],
    [' {"jsonrpc":"2.0","error":{}} ', '{"jsonrpc":"2.0","error":{}}'],
  ])('%j → %j', (text, result) => {
    expect(sliceResult(Buffer.from(text)).toString()).toBe(result);
  });

  it('refuses what is malformed', () => {
    expect(() => sliceResult(Buffer.from('{"result":1}}'))).toThrow(MalformedPage);
    expect(() => sliceResult(Buffer.from('{"result":1,"result":1}'))).toThrow(MalformedPage);
  });
});

// The properties. Documents are generated as text, so that no serializer decides what the bytes look like.

const space = fc.constantFrom('', '', '', '', ' ', '\n', '\r\n', '\t', ' \n  ');
const piece = fc.oneof(
  fc.constantFrom('a', 'items', 'é', '—', '😀', '\u2028', '{', '}', '[', ']', ',', ':', "'", ' ', '\x7f'),
  fc.constantFrom(
    '\\"',
    '\\\\',
    '\\/',
    '\\n',
    '\\u0000',
    '\\u00e9',
    '\\ud83d\\ude00',
    '\\ud800',
    '\\uDC00',
    '\\uDBFF',
  ),
  fc.constantFrom('\\"items\\":[', '\\"result\\":{', '\\\\\\"', '"items":['.replaceAll('"', '\\"')),
);
const stringText = fc.array(piece, { maxLength: 6 }).map((pieces) => `"${pieces.join('')}"`);
const words = ['items', 'result', 'value', 'jsonrpc', '__proto__', '0', 'id', 'it\\u0065ms', ''];
const keyText = fc.oneof(
  fc.constantFrom(...words).map((word) => `"${word}"`),
  stringText,
);
const numberText = fc.oneof(
  fc.constantFrom('0', '-0', '1.10', '18446744073709551615', '-9007199254740993', '1e400', '2E-7', '0.1e+3'),
  fc.bigInt({ min: 0n, max: 2n ** 70n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const scalarText = fc.oneof(stringText, numberText, fc.constantFrom('true', 'false', 'null'));
const memberText = (value: fc.Arbitrary<string>, key: fc.Arbitrary<string> = keyText) =>
  fc.tuple(space, key, space, space, value, space).map(([a, k, b, c, v, d]) => `${a}${k}${b}:${c}${v}${d}`);
const { value: valueText } = fc.letrec<Record<'value' | 'array' | 'object', string>>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalarText,
    tie('array'),
    tie('object'),
    tie('object'),
  ),
  array: fc
    .tuple(space, fc.array(fc.tuple(space, tie('value'), space), { maxLength: 4 }))
    .map(([gap, parts]) =>
      parts.length === 0 ? `[${gap}]` : `[${parts.map((part) => part.join('')).join(',')}]`,
    ),
  object: fc
    .tuple(space, fc.array(memberText(tie('value')), { maxLength: 4 }))
    .map(([gap, parts]) => (parts.length === 0 ? `{${gap}}` : `{${parts.join(',')}}`)),
}));
const formOf = fc.constantFrom<RecordsAt['form']>('array', 'keyed', 'single');
const pathOf = fc.array(fc.constantFrom('items', 'value', '0', '__proto__'), { maxLength: 3 });
const placeOf: fc.Arbitrary<RecordsAt> = fc.record({ path: pathOf, form: formOf });

const oneLine = (text: string) => text.replaceAll(/[\r\n]/g, ' ');
const decoded = (key: string): string => JSON.parse(key);
/** All the literals, for JSON.parse keeps the last of duplicate keys only. */
const hasLoneSurrogate = (json: string) =>
  (json.match(/"(?:[^"\\]|\\.)*"/gs) ?? []).some((text) => /\p{Surrogate}/u.test(decoded(text)));

interface Expected {
  text: string;
  at: RecordsAt;
  enveloped: boolean;
  records: { text: string; key?: string }[];
  envelopeText: string;
}

/** Wraps a value into an object under `key`, between members of other names. */
function wrapped(
  inner: fc.Arbitrary<[string, string]>,
  key: string,
  avoid: string[],
): fc.Arbitrary<[string, string]> {
  const other = memberText(
    valueText,
    keyText.filter((text) => ![key, ...avoid].includes(decoded(text))),
  );
  const others = fc.array(other, { maxLength: 3 });
  const spelled = fc.constantFrom(JSON.stringify(key), JSON.stringify(key).replace('e', '\\u0065'));
  return fc
    .tuple(others, spelled, space, space, inner, space, others)
    .map(([before, name, a, b, both, c, after]) => {
      const [full, rest] = both.map(
        (value) => `{${[...before, `${a}${name}${b}:${value}${c}`, ...after].join(',')}}`,
      );
      return [full!, rest!];
    });
}

/** A document made around its records, with what splitting it must give. */
const madeDocument: fc.Arbitrary<Expected> = fc
  .tuple(
    placeOf,
    fc.boolean(),
    fc.array(fc.record({ text: valueText, name: keyText }), { maxLength: 5 }),
    space,
    space,
  )
  .chain(([at, enveloped, drawn, before, after]) => {
    const bareKeyed = !enveloped && at.path.length === 0 && at.form === 'keyed';
    const reserved = bareKeyed ? ['result', 'jsonrpc'] : [];
    const chosen = at.form === 'single' ? [drawn[0] ?? { text: '"x"', name: '""' }] : drawn;
    const records = chosen.filter(({ name }) => !reserved.includes(decoded(name)));
    const parts = records.map(
      ({ text, name }) => before + (at.form === 'keyed' ? `${name}:${after}${text}` : text) + after,
    );
    const value = { array: `[${parts}]`, keyed: `{${parts}}`, single: parts[0] ?? '' }[at.form];
    const filler = { array: '[]', keyed: '{}', single: 'null' }[at.form];
    // A bare single record at the root that is an object must not look like an envelope.
    const root = !enveloped && at.path.length === 0 && at.form === 'single';
    let both: fc.Arbitrary<[string, string]> = fc.constant([root ? `[${value}]` : value, filler]);
    if (root) records[0] = { ...records[0]!, text: `[${before}${records[0]!.text}${after}]` };
    const keys = enveloped ? ['result', ...at.path] : at.path;
    for (let level = keys.length - 1; level >= 0; level--) {
      both = wrapped(both, keys[level]!, level === 0 ? ['result'] : []);
    }
    return both.map(([full, rest]) => ({
      text: `${before}${full}${after}`,
      at,
      enveloped,
      records: records.map(({ text, name }) =>
        at.form === 'keyed' ? { text, key: decoded(name) } : { text },
      ),
      envelopeText: rest,
    }));
  });

/** What JSON.parse finds at the path: the value, and the document with the records taken out of it. */
function lookUp(
  text: string,
  at: RecordsAt,
): { items: [string | undefined, unknown][]; rest: unknown; enveloped: boolean } {
  const holder = { root: JSON.parse(text) };
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const enveloped = isObject(holder.root) && Object.hasOwn(holder.root, 'result');
  const rpcError =
    !enveloped && at.path.length === 0 && isObject(holder.root) && Object.hasOwn(holder.root, 'jsonrpc');
  const none = { items: [], rest: holder.root, enveloped };
  let parent: unknown = holder;
  let last = 'root';
  for (const key of enveloped ? ['result', ...at.path] : at.path) {
    parent = (parent as Record<string, unknown>)[last];
    if (!isObject(parent) || !Object.hasOwn(parent, key)) return none;
    last = key;
  }
  const owner = parent as Record<string, unknown>;
  const value = owner[last];
  if (rpcError || (at.form === 'array' && !Array.isArray(value)) || (at.form === 'keyed' && !isObject(value)))
    return none;
  const filler = { array: [], keyed: {}, single: null }[at.form];
  Object.defineProperty(owner, last, { value: filler, enumerable: true, configurable: true, writable: true });
  const entries: [string | undefined, unknown][] =
    at.form === 'single'
      ? [[undefined, value]]
      : Object.entries(value as object).map(([key, item]) => [at.form === 'keyed' ? key : undefined, item]);
  return { items: entries, rest: holder.root, enveloped };
}

/** Text of equal values is equal: both sides come from JSON.parse, which keeps the order; `__proto__` included. */
const same = (left: unknown, right: unknown) => expect(JSON.stringify(left)).toBe(JSON.stringify(right));

/** The records as JSON.parse would hold them: of a key that comes twice the last value, integer keys first. */
function parsedRecords(page: SplitPage, form: RecordsAt['form']): unknown[] {
  if (form !== 'keyed') return page.records.map(({ bytes }) => [undefined, JSON.parse(bytes.toString())]);
  const members = page.records.map(({ key, bytes }) => `${JSON.stringify(key)}:${bytes.toString()}`);
  return Object.entries(JSON.parse(`{${members.join(',')}}`));
}

function expectAgreement(text: string, at: RecordsAt): void {
  let page: SplitPage;
  try {
    page = split(text, at);
  } catch (error) {
    // The four refusals of what is JSON; each has its own example above.
    if (
      error instanceof MalformedPage &&
      /second (result|error)|comes twice|levels around/.test(error.message)
    )
      return;
    throw error;
  }
  const expected = lookUp(text, at);
  expect(page.enveloped).toBe(expected.enveloped);
  same(page.envelope, expected.rest);
  same(parsedRecords(page, at.form), expected.items);
}

/** A document's text without the whitespace between its tokens. */
function tokensOf(text: string): string {
  return text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1');
}

describe(`any document (seed ${seed})`, { timeout: 300_000 + totalRuns * 10 }, () => {
  it('splits into its records’ own bytes and the rest', () => {
    assertShare(
      0.4,
      fc.property(madeDocument, ({ text, at, enveloped, records, envelopeText }) => {
        const body = Buffer.from(text);
        const page = splitPage(body, at);
        const views = page.records.map(({ bytes }) => isView(bytes, body));
        expect(views).toEqual(records.map((record) => !/[\r\n]/.test(record.text)));
        // Forms have tests of their own.
        expect(page.records.map(({ bytes, key, refusal }) => ({ bytes, key, refusal }))).toEqual(
          records.map((record) => {
            const surrogate = hasLoneSurrogate(record.text) || /\p{Surrogate}/u.test(record.key ?? '');
            return {
              bytes: Buffer.from(oneLine(record.text)),
              ...(record.key === undefined ? {} : { key: record.key }),
              ...(surrogate ? { refusal: 'lone-surrogate' } : {}),
            };
          }),
        );
        same(page.envelope, JSON.parse(envelopeText));
        expect(tokensOf(page.envelopeText)).toBe(tokensOf(envelopeText));
        expect(page.envelopeText).toBe(page.envelopeText.trim());
        expect(page.enveloped).toBe(enveloped);
        expectAgreement(text, at);
      }),
    );
  });

  it('agrees with JSON.parse at any path', () => {
    assertShare(
      0.3,
      fc.property(valueText, placeOf, (text, at) => expectAgreement(text, at)),
    );
  });

  it('damaged, is refused exactly when JSON.parse refuses it', () => {
    const damage = fc.record({
      kind: fc.constantFrom('cut', 'replace', 'insert', 'delete'),
      where: fc.nat(),
      byte: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\ \n-+.eE0u'))),
    });
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    let refused = 0;
    assertShare(
      0.3,
      fc.property(madeDocument, fc.array(damage, { minLength: 8, maxLength: 8 }), ({ text, at }, damages) => {
        const body = Buffer.from(text);
        for (const { kind, where, byte } of damages) {
          const i = where % body.length;
          const after = kind === 'cut' ? [] : body.subarray(kind === 'insert' ? i : i + 1);
          const middle = kind === 'replace' || kind === 'insert' ? [byte] : [];
          const damaged = Buffer.from([...body.subarray(0, i), ...middle, ...after]);
          let valid = true;
          try {
            JSON.parse(decoder.decode(damaged));
          } catch {
            valid = false;
          }
          if (valid) expectAgreement(damaged.toString(), at);
          else {
            refused++;
            expect(() => splitPage(damaged, at)).toThrow(MalformedPage);
          }
        }
      }),
    );
    expect(refused).toBeGreaterThan(0);
  });
});
