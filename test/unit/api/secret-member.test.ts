import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropSecretMember } from '../../../src/api/wire.ts';

const member = { name: 'authHeader', flag: 'has_auth_header' };
const drop = (text: string) => dropSecretMember(Buffer.from(text), member).toString();

test.each([
  ['{"a":1,"authHeader":"s","b":[2]}', '{"a":1,"has_auth_header":true,"b":[2]}'],
  ['{ "authHeader" :\n "s\\"}" }', '{ "has_auth_header" :\n true }'],
  ['{"authHeader":""}', '{"has_auth_header":false}'],
  ['{"authHeader":null,"x":"authHeader"}', '{"has_auth_header":false,"x":"authHeader"}'],
  ['{"auth\\u0048eader":"s"}', '{"has_auth_header":true}'],
  [
    '{"auth_header":"s","AUTHHEADER":{"v":["s",{"w":"s"}]}}',
    '{"has_auth_header":true,"has_auth_header":true}',
  ],
  ['[{"x":{"authHeader":["s"]}}]', '[{"x":{"has_auth_header":true}}]'],
  ['{"x":"\\",\\"authHeader\\":\\"no\\""}', '{"x":"\\",\\"authHeader\\":\\"no\\""}'],
  ['{"error":"not found"}', '{"error":"not found"}'],
  ['<html>502</html>', '<html>502</html>'],
  ['max usage reached', 'max usage reached'],
])('%s', (text, expected) => {
  expect(drop(text)).toBe(expected);
});

test('what begins like JSON and is none is dropped whole', () => {
  for (const text of ['{"authHeader":"s"', '{"authHeader":"s"}}', '["s', '"s', '\uFEFF{"authHeader":s}', ''])
    expect(drop(text)).toBe('');
  expect(dropSecretMember(Buffer.from([0x7b, 0xff, 0x7d]), member)).toHaveLength(0);
});

test('any document keeps everything else, and loses every member of that name', () => {
  const key = fc.oneof(fc.constantFrom('authHeader', 'auth-header', 'authHeaders', 'x'), fc.string());
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const isSecret = (name: string) => name.toLowerCase().replace(/[_-]/g, '') === 'authheader';
  const expected = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(expected);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).map(([name, inner]): [string, unknown] =>
      isSecret(name)
        ? ['has_auth_header', ![null, '', false].includes(inner as null)]
        : [name, expected(inner)],
    );
    return Object.fromEntries(members);
  };
  fc.assert(
    fc.property(tree, fc.constantFrom(undefined, 1), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(JSON.parse(drop(text))).toEqual(expected(JSON.parse(text)));
    }),
    { numRuns: 1000 },
  );
});
