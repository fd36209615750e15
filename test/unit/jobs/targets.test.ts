import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { UsageError } from '../../../src/errors.ts';
import { canonicalJson, type Job } from '../../../src/jobs/job.ts';
import { readJobs } from '../../../src/jobs/job-file.ts';
import { resolveIds, resolveTargets } from '../../../src/jobs/targets.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledgerlake-targets-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

const noQuery = async () => [];
const a = 'a'.repeat(32);
const b = 'b'.repeat(44);
const owners = 'describe: d\nmethod: getTokenAccounts\n';
const groups = 'describe: d\nmethod: getAssetsByGroup\nparams: { groupKey: collection }\n';
const families = groups.replace('collection', 'family');

async function job(text: string, list?: string | Buffer): Promise<Job> {
  writeFileSync(join(dir, 'job.yaml'), text);
  if (list !== undefined) writeFileSync(join(dir, 'list.txt'), list);
  const [read] = await readJobs(dir);
  return read!;
}

async function refusal(resolved: Promise<unknown>): Promise<string> {
  const error: unknown = await resolved.catch((thrown: unknown) => thrown);
  if (!(error instanceof UsageError)) throw error;
  return error.message.replaceAll(`${dir}/`, '');
}

describe('targets of a file', () => {
  const fromFile = `${owners}for_each: { owner: { file: list.txt } }\n`;

  test('are its lines, trimmed, without comments, each once', async () => {
    const list = `\ufeff# owners\r\n${b}\r\n\r\n  ${a}\t# the treasury\r\n#${a}\r\n${b}`;
    expect(await resolveTargets(await job(fromFile, list), noQuery)).toEqual([
      { name: b, params: { owner: b } },
      { name: a, params: { owner: a } },
    ]);
  });

  test('are refused with file and line, without repeating them', async () => {
    const list = `# owners\n${a}\n${a} ${b}\n"${a}"\n${a},\ntoo-short\n`;
    expect(await refusal(resolveTargets(await job(fromFile, list), noQuery))).toBe(
      [
        'list.txt:3: expected a base58 address of 32 to 44 characters',
        'list.txt:4: expected the bare value, without quotes, commas or brackets',
        'list.txt:5: expected the bare value, without quotes, commas or brackets',
        'list.txt:6: expected a base58 address of 32 to 44 characters',
      ].join('\n'),
    );
  });

  test('are told up to twenty problems', async () => {
    const message = await refusal(resolveTargets(await job(fromFile, 'x\n'.repeat(1000)), noQuery));
    expect(message.split('\n')).toHaveLength(21);
    expect(message.split('\n').at(-1)).toBe('and 980 more');
  });

  test.each([
    ['no value', '# none yet\n\n', 'list.txt holds no target'],
    ['other bytes than UTF-8', Buffer.from([0x61, 0xff]), 'list.txt is not UTF-8 text'],
  ])('may not be a file of %s', async (_, list, message) => {
    expect(await refusal(resolveTargets(await job(fromFile, list), noQuery))).toBe(message);
  });

  test('may be 100,000, in less than a second of CPU', async () => {
    const lines = Array.from({ length: 100_000 }, (_, n) => `${a}${n}`.replaceAll('0', 'z'));
    const read = await job(fromFile, lines.join('\n'));
    const start = process.cpuUsage();
    expect((await resolveTargets(read, noQuery)).length).toBe(100_000);
    expect(process.cpuUsage(start).user).toBeLessThan(1e6);
  });

  test('may hold spaces where the parameter takes any text', async () => {
    const read = await job(`${families}for_each: { groupValue: { file: list.txt } }\n`, 'two words\nC#\n');
    expect((await resolveTargets(read, noQuery)).map(({ name }) => name)).toEqual(['two words', 'C#']);
  });

  test('are addresses where the group is a collection', async () => {
    const text = `${a}\n${a.slice(0, 20)}\nhttps://example.com/${a}\n`;
    const read = await job(`${groups}for_each: { groupValue: { file: list.txt } }\n`, text);
    const said: string[] = [];
    const targets = await resolveTargets(read, noQuery, (problems) =>
      said.push(...problems.map(({ line, message }) => `${line}: ${message}`)),
    );
    expect(targets.map(({ name }) => name)).toEqual([a]);
    expect(said).toEqual([2, 3].map((n) => `${n}: expected a base58 address of 32 to 44 characters`));
  });
});

describe('targets of values', () => {
  test('are the values, each once', async () => {
    const read = await job(`${families}for_each: { groupValue: { values: [x, y, x] } }\n`);
    expect((await resolveTargets(read, noQuery)).map(({ name }) => name)).toEqual(['x', 'y']);
  });

  test('are refused by their place in the list', async () => {
    const read = await job(`${owners}for_each: { owner: { values: [${a}, nobody] } }\n`);
    expect(await refusal(resolveTargets(read, noQuery))).toBe(
      'job.yaml:3: for_each.owner.values[1]: expected a base58 address of 32 to 44 characters',
    );
  });

  test('are one, without a name, when there is no for_each', async () => {
    const read = await job('describe: d\nmethod: getLatestCompressionSignatures\n');
    expect(await resolveTargets(read, noQuery)).toEqual([{ name: '', params: {} }]);
  });
});

describe('targets of SQL', () => {
  const oneColumn = `${owners}for_each: { owner: { sql: select holder from t } }\n`;
  const columns = `${owners}for_each: { sql: "select owner, mint from t" }\n`;

  test('are the rows of one column, whatever it is called', async () => {
    const asked: string[] = [];
    const query = async (sql: string) => {
      asked.push(sql);
      return [{ holder: b }, { holder: a }, { holder: b }];
    };
    expect(await resolveTargets(await job(oneColumn), query)).toEqual([
      { name: b, params: { owner: b } },
      { name: a, params: { owner: a } },
    ]);
    expect(asked).toEqual(['select holder from t']);
  });

  test('are named by canonical JSON when they fill several parameters', async () => {
    const rows = [
      { owner: a, mint: b },
      { mint: b, owner: a },
    ];
    expect(await resolveTargets(await job(columns), async () => rows)).toEqual([
      { name: `{"mint":"${b}","owner":"${a}"}`, params: { owner: a, mint: b } },
    ]);
  });

  test('are none when no row comes', async () => {
    expect(await resolveTargets(await job(oneColumn), noQuery)).toEqual([]);
  });

  test.each([
    [
      'two columns for one',
      oneColumn,
      { x: a, y: b },
      'for_each.owner.sql: expected one column, the SELECT gives 2 (x, y)',
    ],
    [
      'an unknown column',
      columns,
      { owner: a, mnit: b },
      'for_each.sql: getTokenAccounts has no parameter mnit; name the columns after mint, owner',
    ],
    [
      'NULL',
      oneColumn,
      { holder: null },
      'for_each.owner.sql: row 1: holder is null; add `where holder is not null`',
    ],
    [
      'a number',
      oneColumn,
      { holder: 5n },
      'for_each.owner.sql: row 1: holder is not text; write `holder::varchar`',
    ],
    [
      'a wrong value',
      oneColumn,
      { holder: 'x' },
      'for_each.owner.sql: row 1: expected a base58 address of 32 to 44 characters, got "x"',
    ],
    [
      'a wrong value in a column',
      columns,
      { owner: a, mint: 'x' },
      'for_each.sql: row 1: mint: expected a base58 address of 32 to 44 characters, got "x"',
    ],
  ])('refuse %s', async (_, text, row, message) => {
    expect(await refusal(resolveTargets(await job(text), async () => [row]))).toBe(`job.yaml:3: ${message}`);
  });

  test.each([
    [
      'lack what is required',
      `describe: d\nmethod: getAssetsByGroup\nfor_each: { sql: x }\n`,
      { groupKey: 'k' },
      '3: for_each.sql: getAssetsByGroup needs groupValue too, in params or as a column',
    ],
    [
      'repeat params',
      `${groups}for_each: { sql: x }\n`,
      { groupKey: 'k', groupValue: 'v' },
      '4: for_each.sql: groupKey is in params too; leave it out there or in the SELECT',
    ],
  ])('refuse columns that %s', async (_, text, row, message) => {
    expect(await refusal(resolveTargets(await job(text), async () => [row]))).toBe(`job.yaml:${message}`);
  });
});

describe('ids of a batch', () => {
  const batch = 'describe: d\nmethod: getAssetBatch\n';

  test('are one target', async () => {
    const read = await job(`${batch}for_each: { ids: { values: [${a}, ${b}, ${a}] } }\n`);
    expect(await resolveTargets(read, noQuery)).toEqual([{ name: '', params: {} }]);
    expect(await resolveIds(read, noQuery)).toEqual([a, b]);
  });

  test('may stand in params', async () => {
    const read = await job(`${batch}params: { ids: [${a}, ${b}, ${a}] }\n`);
    expect(await resolveTargets(read, noQuery)).toEqual([{ name: '', params: {} }]);
    expect(await resolveIds(read, noQuery)).toEqual([a, b]);
    // They are asked for in slices, never with every request.
    expect(read.params).toEqual({});
  });

  test('of several members may stand in params, too', async () => {
    const proofs = 'describe: d\nmethod: getMultipleNewAddressProofsV2\n';
    const read = await job(`${proofs}params: { addresses: [{ tree: ${b}, address: ${a} }] }\n`);
    expect(await resolveIds(read, noQuery)).toEqual([`{"address":"${a}","tree":"${b}"}`]);
    expect(read.params).toEqual({});
    expect(await refusal(job(`${proofs}params: { addresses: [{ tree: ${b} }] }\n`))).toMatch(
      /^job\.yaml:3: params\.addresses\[0\]\.address: missing/,
    );
  });

  test('may come from SQL, and then may be none', async () => {
    const read = await job(`${batch}for_each: { ids: { sql: select id from assets } }\n`);
    expect(await resolveIds(read, async () => [{ id: b }, { id: a }])).toEqual([b, a]);
    expect(await resolveIds(read, noQuery)).toEqual([]);
    expect(await refusal(resolveIds(read, async () => [{ id: 'x' }]))).toBe(
      'job.yaml:3: for_each.ids.sql: row 1: expected a base58 address of 32 to 44 characters, got "x"',
    );
  });

  test('may be mappings, filled by columns', async () => {
    const plain = await job(`${batch}for_each: { ids: { sql: select 1 } }\n`);
    const pair = z.strictObject({ address: z.string().min(2), tree: z.string() });
    const read: Job = {
      ...plain,
      operation: {
        ...plain.operation,
        name: 'pairs',
        batchParam: 'pairs',
        params: z.strictObject({ pairs: z.array(pair) }),
      },
      forEach: { params: [], line: 3, kind: 'sql', sql: 'select tree, address from t' },
    };
    const ids = await resolveIds(read, async () => [
      { tree: 't1', address: 'aa' },
      { tree: 't1', address: 'aa' },
    ]);
    expect(ids).toEqual(['{"address":"aa","tree":"t1"}']);
    expect(await refusal(resolveIds(read, async () => [{ tree: 't1' }]))).toBe(
      'job.yaml:3: for_each.sql: pairs needs address too, in params or as a column',
    );
  });
});

test('canonical JSON does not see the order of members, and reads back as the value', () => {
  expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: undefined })).toBe('{"b":[1,{"c":"x","d":null}]}');
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = canonicalJson(value);
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(canonicalJson(reversed)).toBe(text);
      expect(text).toBe(canonicalJson(JSON.parse(text)));
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
