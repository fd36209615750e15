import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readApiKey, withoutKey } from '../../../src/api/api-key.ts';
import { UsageError } from '../../../src/errors.ts';
import { canary } from '../../support/api-client.ts';
import { echoesOf } from '../../support/key-echoes.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'api-key-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const queryOf = (env: NodeJS.ProcessEnv) => readApiKey(env).authorize('rpc', { path: '/', headers: {} }).path;

describe('where it is read', () => {
  test('the variable, else the file, trimmed', () => {
    const file = join(folder, 'key');
    writeFileSync(file, 'from-file\n', { mode: 0o600 });
    expect(queryOf({ LEDGERLAKE_API_KEY: 'direct', LEDGERLAKE_API_KEY_FILE: file })).toBe('/?api-key=direct');
    expect(queryOf({ LEDGERLAKE_API_KEY: '', LEDGERLAKE_API_KEY_FILE: file })).toBe('/?api-key=from-file');
    expect(queryOf({ LEDGERLAKE_API_KEY_FILE: file })).toBe('/?api-key=from-file');
  });

  test('an interface may have its own, from a file too; the others share one, and all are taken out of texts', () => {
    const file = join(folder, 'wallet-key');
    writeFileSync(file, 'shared-key-0001-wallet\n', { mode: 0o600 });
    const keys = { LEDGERLAKE_API_KEY: 'shared-key-0001', LEDGERLAKE_WALLET_API_KEY_FILE: file };
    const key = readApiKey(keys);
    const sent = (['rpc', 'webhook', 'wallet'] as const).map((name) =>
      key.authorize(name, { path: '/', headers: {} }),
    );
    expect(sent).toEqual([
      { path: '/?api-key=shared-key-0001', headers: {} },
      { path: '/?api-key=shared-key-0001', headers: {} },
      { path: '/', headers: { 'x-api-key': 'shared-key-0001-wallet' } },
    ]);
    expect(key.redact(Buffer.from('a shared-key-0001-wallet b shared-key-0001 c'))).toBe('a [key] b [key] c');
    expect(key.isIn(Buffer.from('0001-wallet'))).toBe(false);
    expect(withoutKey({ ...keys, NOTE: 'x shared-key-0001-wallet', HOME: '/' })).toEqual({ HOME: '/' });
  });

  test('empty means unset', () => {
    for (const env of [{}, { LEDGERLAKE_API_KEY: ' ' }, { LEDGERLAKE_API_KEY_FILE: '' }]) {
      expect(readApiKey(env).isSet).toBe(false);
      expect(queryOf(env)).toBe('/');
    }
  });

  test('a file that is empty or cannot be read, or a key no URL can carry, is a usage error', () => {
    const empty = join(folder, 'empty');
    writeFileSync(empty, '\n');
    expect(() => readApiKey({ LEDGERLAKE_API_KEY_FILE: empty })).toThrow(/names is empty/);
    expect(() => readApiKey({ LEDGERLAKE_API_KEY_FILE: join(folder, 'none') })).toThrow(UsageError);
    expect(() => readApiKey({ LEDGERLAKE_API_KEY_FILE: folder })).toThrow(UsageError);
    expect(() => readApiKey({ LEDGERLAKE_API_KEY: 'two words' })).toThrow(UsageError);
    expect(() => readApiKey({ LEDGERLAKE_API_KEY: 'two\nlines' })).toThrow(/^(?!.*lines)/s);
  });
});

describe('what a program that is not to know it is given', () => {
  const direct = 'a-key-of-its-own+1';
  const others = { HOME: '/root', LEDGERLAKE_RPC_URL: 'https://rpc.example.com/?api-key=other' };

  test('no variable that says it, and none whose value holds it', () => {
    const pasted = {
      LEDGERLAKE_API_KEY: direct,
      LEDGERLAKE_WALLET_URL: `https://wallet.example.com/?api-key=${direct}`,
      ENCODED: `https://wallet.example.com/?api-key=${encodeURIComponent(direct)}`,
    };
    readApiKey(pasted);
    expect(withoutKey({ ...others, ...pasted })).toEqual(others);
  });

  test('also where the key stands in a file', () => {
    const file = join(folder, 'filed');
    writeFileSync(file, 'another-key-of-its-own\n', { mode: 0o600 });
    readApiKey({ LEDGERLAKE_API_KEY_FILE: file });
    const pasted = { LEDGERLAKE_API_KEY_FILE: file, SHELL_NOTE: 'curl -H another-key-of-its-own' };
    expect(withoutKey({ ...others, ...pasted })).toEqual(others);
  });
});

describe('where it goes', () => {
  const key = readApiKey({ LEDGERLAKE_API_KEY: canary });
  const encoded = encodeURIComponent(canary);

  test('query for rpc and webhook, header for wallet', () => {
    const target = { path: '/a?b=1', headers: { accept: 'x' } };
    expect(key.authorize('rpc', target)).toEqual({
      path: `/a?b=1&api-key=${encoded}`,
      headers: { accept: 'x' },
    });
    expect(key.authorize('webhook', { path: '/a', headers: {} }).path).toBe(`/a?api-key=${encoded}`);
    expect(key.authorize('wallet', target)).toEqual({
      path: '/a?b=1',
      headers: { accept: 'x', 'x-api-key': canary },
    });
  });

  test('never out by accident', () => {
    expect(inspect(key, { depth: 9, showHidden: true })).not.toContain(canary);
    expect(JSON.stringify(key)).toBe('{"isSet":true}');
  });
});

describe('echoes', () => {
  const key = readApiKey({ LEDGERLAKE_API_KEY: canary });
  const redact = (text: string, isCut?: boolean, by = key) => by.redact(Buffer.from(text), isCut);

  test.each(Object.entries(echoesOf(canary)))('%s: is seen, and taken out of texts', (_, echo) => {
    for (const around of ['', 'x', '{"a":"', 'long before '.repeat(50)]) {
      expect(key.isIn(Buffer.from(`${around}${echo}"}`))).toBe(true);
      expect(key.isIn(Buffer.from(`%20\\u0041${around}${echo}`))).toBe(true);
    }
    const clean = redact(`a ${echo} b ${echo}`);
    expect(clean).toMatch(/^a .{0,16}\[key\].{0,16} b .{0,16}\[key\].{0,16}$/);
    expect(key.isIn(Buffer.from(clean))).toBe(false);
  });

  test('a part of the key, or another one, is none', () => {
    const other = canary.replace('7f3a', '7f3b');
    for (const text of [...Object.values(echoesOf(other)), canary.slice(1), canary.slice(0, -1)]) {
      expect(key.isIn(Buffer.from(text))).toBe(false);
      expect(redact(text)).toBe(text);
    }
  });

  test.each(['ab"cdefgh\\ijklmnop"q', '\\"\\/b\\u0041%41n\\nZ0', '"/%25"/x\\\\y\\u005c7'])(
    'a key with quotes, backslashes or what looks like an escape: %s',
    (odd) => {
      const oddKey = readApiKey({ LEDGERLAKE_API_KEY: odd });
      for (const [name, echo] of Object.entries(echoesOf(odd))) {
        const answer = `{"é":"yours is ${echo}","n":"é"}`;
        expect(oddKey.isIn(Buffer.from(answer)), name).toBe(true);
        expect(redact(answer, false, oddKey), name).toMatch(
          /^{"é":"yours is .{0,16}\[key\].{0,16}","n":"é"}$/,
        );
      }
      const quoted = JSON.stringify({ message: `yours is ${odd}` });
      expect(JSON.parse(redact(quoted, false, oddKey))).toEqual({ message: 'yours is [key]' });
    },
  );

  test('what was cut has no part of a key at its end, however it is spelled', () => {
    for (const odd of [canary, 'ab"cdefgh\\ijklmnop"q'])
      for (const [name, echo] of Object.entries(echoesOf(odd))) {
        // Between any two of its characters there may be as many backslashes as there is room for.
        for (const slashes of ['', '\\'.repeat(1000)])
          for (let length = 0; length <= echo.length; length += 1) {
            const text = `${'words '.repeat(30)}${echo.slice(0, length)}${slashes}`;
            const clean = redact(text, true, readApiKey({ LEDGERLAKE_API_KEY: odd }));
            expect(clean, `${name}, ${length}`).toMatch(/^(words )+(w|wo|wor|word|words)?(\[key\])?$/);
          }
      }
  });

  test('the time it takes grows with the length of the text only', () => {
    const timeMs = (work: () => unknown) => {
      const startedAt = performance.now();
      work();
      return performance.now() - startedAt;
    };
    for (const unit of ['\\', '%', '\\u00', '\\"', canary, canary.slice(0, -1), '%41', '\\u0041']) {
      const bytes = Buffer.from(unit.repeat(Math.ceil(4e6 / unit.length)));
      expect(
        timeMs(() => key.isIn(bytes)),
        unit,
      ).toBeLessThan(2000);
      expect(
        timeMs(() => key.redact(bytes.subarray(0, 65_536), true)),
        unit,
      ).toBeLessThan(500);
    }
  });

  test('a key of the fewest characters that count, anywhere in a page', () => {
    const short = 'Zq8-xK2w';
    const page = Buffer.from(
      '{"name":"Ape \\u0026 \\"friends\\" 100%","uri":"https://a.example/%20"},'.repeat(50),
    );
    for (const [name, echo] of Object.entries(echoesOf(short)))
      for (let at = 0; at < 150; at += 1) {
        const body = Buffer.concat([page.subarray(0, at), Buffer.from(echo), page.subarray(at)]);
        expect(readApiKey({ LEDGERLAKE_API_KEY: short }).isIn(body), `${name} at ${at}`).toBe(true);
      }
    expect(readApiKey({ LEDGERLAKE_API_KEY: short }).isIn(page)).toBe(false);
  });

  test('an ordinary word used as a key does not condemn honest answers', () => {
    expect(readApiKey({ LEDGERLAKE_API_KEY: 'sandbox' }).isIn(Buffer.from('"sandbox"'))).toBe(false);
    expect(readApiKey({}).isIn(Buffer.from('{}'))).toBe(false);
  });
});

test.each([
  ['https://rpc.example.com', 'https://rpc.example.com'],
  ['https://rpc.example.com:8443/devnet//v2/', 'https://rpc.example.com:8443/devnet/v2'],
  ['https://rpc.example.com/v2/{key}', 'https://rpc.example.com/v2'],
  ['https://rpc.example.com/k3y%2Fwith-slash/solana', 'https://rpc.example.com/solana'],
  ['https://rpc.example.com/mainnet/f86d09a1c4d24c1e9a51b1b0e6f3b2aa/', 'https://rpc.example.com/mainnet'],
])('the source of %s is %s', (url, source) => {
  expect(readApiKey({ LEDGERLAKE_API_KEY: 'k3y/with-slash' }).sourceOf(url)).toBe(source);
});
