import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitPage } from '../../../src/landing/split.ts';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { bar } from '../../bars.ts';
import { makeLanding, newPage } from '../../support/pages.ts';

const numRuns = Math.ceil(bar('documents') / 10);

function splitAll(texts: readonly string[]) {
  return splitPage(Buffer.from(`[${texts.join(',')}]`), { path: [], form: 'array' }).records;
}

const forms = (...texts: string[]) => splitAll(texts).map(({ form }) => form);

/** The form of a record's text, by its tokens. */
function formOf(text: string): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let n = 0;
  const value = (): string => {
    const token = tokens[n++]!;
    if (token !== '{' && token !== '[') return token === 'null' ? 'null' : '0';
    const parts: string[] = [];
    while (tokens[n] !== '}' && tokens[n] !== ']') {
      if (tokens[n] === ',') n += 1;
      const key = token === '{' ? `${JSON.stringify(JSON.parse(tokens[n]!))}:` : '';
      if (token === '{') n += 2;
      parts.push(key + value());
    }
    n += 1;
    return token === '{' ? `{${parts.join(',')}}` : `[${[...new Set(parts)].join(',')}]`;
  };
  return value();
}

test('a form is the record with nothing in it', () => {
  expect(
    forms('{"id":"a","n":[1,2.5,true,null,"x",[],{}],"o":{"p":null,"q":{}}}', '1', '[]', '[[1],[2],[null]]'),
  ).toEqual(['{"id":0,"n":[0,null,[],{}],"o":{"p":null,"q":{}}}', '0', '[]', '[[0],[null]]']);
});

test('lists of the same kinds of elements have one form, in whatever order those come again', () => {
  const [first, second, other] = forms('[1,{},1,{}]', '[1,{},{},1,1]', '[{},1]');
  expect(first).toBe('[0,{}]');
  expect(second).toBe(first);
  expect(other).toBe('[{},0]');
});

test('a key that comes twice is twice in the form', () => {
  expect(forms('{"a":1,"a":{}}')).toEqual(['{"a":0,"a":{}}']);
});

const key = fc.constantFrom('"id"', '"i"', '"idx"', '"\\u0069d"', '"a b"', '"é"', '"__proto__"', '""');
const { value: recordText } = fc.letrec<Record<'value', string>>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('1', '-2.5e3', '"x"', '"\\"{"', 'true', 'false', 'null'),
    fc.array(tie('value'), { maxLength: 5 }).map((items) => `[ ${items.join(' , ')} ]`),
    fc
      .array(fc.tuple(key, tie('value')), { maxLength: 5 })
      .map((members) => `{ ${members.map((pair) => pair.join(': ')).join(' ,')} }`),
  ),
}));

test('whatever was read before, a record has its own form or none', () => {
  let [read, told] = [0, 0];
  fc.assert(
    fc.property(fc.array(recordText, { minLength: 1, maxLength: 30 }), (texts) => {
      const both = [...texts, ...texts];
      const found = forms(...both);
      read += both.length;
      told += found.filter((form) => form !== undefined).length;
      expect(found).toEqual(found.map((form, n) => form && formOf(both[n]!)));
    }),
    { numRuns },
  );
  // None: after a key with an escape, and now and then, when too many places are known and it begins anew.
  expect(told).toBeGreaterThan(read / 2);
});

test('where keys are data, some records have no form, and none a wrong one', () => {
  const texts = Array.from({ length: 150_000 }, (_, n) => `{"id":{"key ${n}":1}}`);
  const told = splitAll([...texts, '{"id":1}']).map(
    ({ form }, n) => form === undefined || form === formOf(texts[n] ?? '{"id":1}'),
  );
  expect(told.every(Boolean)).toBe(true);
  expect(forms('{"id":1}')).toEqual(['{"id":0}']);
});

test('a page line tells the forms that are new to its segment, and of each record which it has', async () => {
  const dir = await makeLanding();
  const log = createLandingLog({ dir });
  const first = await log.appendPage(newPage(1), splitAll(['{"a":1}', '{"b":1}', '{"a":2}']));
  const second = await log.appendPage(newPage(2), splitAll(['{"b":null}', '{"b":"\\ud800"}', '{"b":5}']));
  const kinds = ['1', 'null', '{}', '[]'];
  const many = Array.from(
    { length: 1024 },
    (_, n) => `[${[0, 1, 2, 3, 4].map((k) => `{"${k}":${kinds[(n >> (2 * k)) & 3]}}`)}]`,
  );
  const third = await log.appendPage(newPage(3), splitAll(many));
  await log.close();
  expect([first.forms, first.form_of]).toEqual([
    [
      { form: 0, like: '{"a":0}' },
      { form: 1, like: '{"b":0}' },
    ],
    [0, 1, 0],
  ]);
  expect([second.forms, second.form_of]).toEqual([[{ form: 2, like: '{"b":null}' }], [2, null, 1]]);
  expect(third.forms).toHaveLength(997);
  expect(third.form_of?.slice(996, 998)).toEqual([999, null]);
});
