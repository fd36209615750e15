import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/errors.ts';
import { readJobs } from '../../../src/jobs/job-file.ts';
import { listOperations } from '../../../src/operations/catalogue.ts';

let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledgerlake-jobs-'));
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

/** Writes job files and returns the jobs as plain values, operations by name. */
async function read(files: Record<string, string>, names?: string[]) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  const jobs = await readJobs(dir, names);
  return jobs.map((job) => ({ ...job, file: relative(job.file), operation: job.operation.name }));
}

/** The refusal of these files: its message with paths relative to the folder, and its hint. */
async function refusal(files: Record<string, string>, names?: string[]) {
  const error: unknown = await read(files, names).catch((thrown: unknown) => thrown);
  if (!(error instanceof UsageError)) throw error;
  return { message: relative(error.message), hint: relative(error.hint) };
}

async function messageFor(text: string): Promise<string> {
  return (await refusal({ 'a.yaml': text })).message;
}

function relative(text: string): string {
  return text.replaceAll(`${dir}/`, '').replaceAll(dir, '<dir>');
}

const methods = listOperations()
  .filter(({ transport }) => transport !== 'webhook')
  .map(({ name }) => name)
  .join(', ');
const latest = 'describe: d\nmethod: getLatestCompressionSignatures\n';
const group = 'describe: d\nmethod: getAssetsByGroup\nparams: { groupKey: collection }\n';
const groups = `${group}for_each: { groupValue: { values: [a] } }\n`;
const tokens = 'describe: d\nmethod: getTokenAccounts\n';

describe('a job file', () => {
  test('gives every field, with paths relative to the folder', async () => {
    writeFileSync(join(dir, 'list.txt'), 'a\n');
    const [job] = await read({
      'all-assets.yaml': `${group}for_each: { groupValue: { file: list.txt } }\npage_size: 500\npartitions: 4\n`,
    });
    expect(job).toEqual({
      name: 'all-assets',
      file: 'all-assets.yaml',
      describe: 'd',
      operation: 'getAssetsByGroup',
      params: { groupKey: 'collection', sortBy: { sortBy: 'id', sortDirection: 'asc' } },
      forEach: { params: ['groupValue'], line: 4, kind: 'file', path: join(dir, 'list.txt') },
      mode: 'full',
      fullEveryMs: null,
      ids: null,
      after: [],
      since: null,
      overlapMs: null,
      pageSize: 500,
      partitions: 4,
      tags: [],
    });
  });

  test('counts members without a value as absent', async () => {
    const [job] = await read({ 'a.yaml': `${latest}params:\nafter:\nsince:\npage_size: # default\n` });
    expect(job).toMatchObject({
      params: {},
      after: [],
      pageSize: 1000,
      since: { kind: 'age', ms: 86_400_000 },
      overlapMs: 3_600_000,
    });
  });

  test.each([
    ['12h', { kind: 'age', ms: 43_200_000 }],
    ['2w', { kind: 'age', ms: 1_209_600_000 }],
    ['{ slot: 7 }', { kind: 'slot', slot: 7 }],
    ['{ pages: 3 }', { kind: 'pages', pages: 3 }],
    ['all', { kind: 'all' }],
  ])('reads since: %s', async (text, since) => {
    expect(await read({ 'a.yaml': `${latest}since: ${text}\n` })).toMatchObject([{ since }]);
  });

  test.each([
    ['2h', 7_200_000],
    ['0s', 0],
  ])('reads overlap: %s', async (text, overlapMs) => {
    expect(await read({ 'a.yaml': `${latest}overlap: ${text}\n` })).toMatchObject([{ overlapMs }]);
  });

  test('sorts an incremental job by change, and crawls in full every week unless told', async () => {
    const jobs = await read({
      'a.yaml': `${groups}mode: incremental\n`,
      'b.yaml': `${groups.replace('collection', 'collection, sortBy: { sortBy: recent_action, sortDirection: desc }')}mode: incremental\nfull_every: 1d\n`,
    });
    expect(jobs.map(({ params, fullEveryMs }) => [params.sortBy, fullEveryMs])).toEqual([
      [{ sortBy: 'updated', sortDirection: 'desc' }, 604_800_000],
      [{ sortBy: 'recent_action', sortDirection: 'desc' }, 86_400_000],
    ]);
  });

  test('takes several parameters from the columns of one SELECT', async () => {
    const sql = 'select owner, mint from token_accounts';
    const [job] = await read({ 'a.yaml': `${tokens}for_each: { sql: "${sql}" }\n` });
    expect(job?.forEach).toEqual({ params: [], line: 3, kind: 'sql', sql });
  });
});

describe('a folder of job files', () => {
  test('comes in the order of a run: by waves, then by name', async () => {
    const files = {
      'a.yaml': `${latest}after: [c]\n`,
      'b.yaml': latest,
      'c.yaml': `${latest}after: [d, d]\n`,
      'd.yaml': latest,
      'notes.txt': 'not a job',
    };
    expect((await read(files)).map(({ name }) => name)).toEqual(['b', 'd', 'c', 'a']);
    expect((await read(files, ['b', 'a', 'c', 'a'])).map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  });

  test('is refused when it is missing or empty', async () => {
    expect(await refusal({})).toEqual({
      message: 'the jobs folder <dir> has no job files',
      hint: expect.stringMatching(
        /^Write a <name>\.yaml there,.* or begin with the bundled jobs: mkdir -p \S+ && cp -r \S+\/jobs\/\. \S+$/,
      ),
    });
    const message = `cannot read the jobs folder ${join(dir, 'none')} (ENOENT)`;
    await expect(readJobs(join(dir, 'none'))).rejects.toMatchObject({ message, exitCode: 2 });
  });

  test('lists its jobs when an unknown one is asked for', async () => {
    expect(await refusal({ 'sales.yaml': latest, 'owners.yaml': latest }, ['sale'])).toEqual({
      message: 'no job is called "sale", did you mean "sales"?',
      hint: 'The jobs here are owners, sales.',
    });
  });

  test('refuses names that are built in, wrongly spelt, or end in .yml', async () => {
    const files = { '_confirm.yaml': latest, 'Big Job.yaml': latest, 'old.yml': latest, 'ok.yaml': latest };
    expect((await refusal(files)).message).toBe(
      [
        'Big Job.yaml: expected a name of a-z, 0-9, - and _ that begins with a letter or digit',
        '_confirm.yaml: names that begin with _ belong to built-in jobs; rename the file',
        'old.yml: expected a name that ends in .yaml',
      ].join('\n'),
    );
  });

  test('tells the problems of all files at once', async () => {
    expect(
      await refusal({
        'a.yaml': '# a comment\ndescribe: d\nmetod: getAssetsByGroup\n',
        'b.yaml': `${latest}page_size: 0\nmode: quick\n`,
        'c.yaml': 'describe: "open\nmethod: x\n',
        'd.yaml': `${latest}method: getTokenAccounts\n`,
        'e.yaml': '',
        'f.yaml': `${latest}after: [b, bb, b2]\n`,
      }),
    ).toEqual({
      message: [
        `a.yaml:2: method: missing, expected one of ${methods}`,
        'a.yaml:3: metod: unknown field, did you mean "method"?',
        'b.yaml:3: page_size: expected number to be >=1',
        'b.yaml:4: mode: expected one of full, incremental, got "quick"',
        'c.yaml:3: not valid YAML: Missing closing "quote',
        'd.yaml:3: not valid YAML: Map keys must be unique',
        'e.yaml: expected a mapping (`name: value` lines), got nothing',
        'f.yaml:3: after[1]: no job is called "bb", did you mean "b"?',
        'f.yaml:3: after[2]: no job is called "b2", did you mean "b"?',
      ].join('\n'),
      hint: 'Correct the job files, then run `ledgerlake jobs check`.',
    });
  });

  test.each([
    ['describe: *none\n', 'a.yaml:1: not valid YAML: the alias *none has no anchor before it'],
    [
      'describe: d\nfor_each: &loop\n  owner: { values: [*loop] }\n',
      'a.yaml:3: not valid YAML: the alias *loop contains itself',
    ],
    [
      'a: &a [x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]\n',
      'a.yaml: not valid YAML: Excessive alias count indicates a resource exhaustion attack',
    ],
    [`a: ${'['.repeat(100_000)}`, 'a.yaml:1: not valid YAML: Maximum call stack size exceeded'],
    [
      `${latest}__proto__: { method: x }\n`,
      'a.yaml:3: __proto__: unknown field, expected one of describe, method, params, for_each, mode, full_every, after, since, overlap, page_size, partitions, tags',
    ],
    [
      `${groups}params: { constructor: x }\n`.replace(/params: .*collection.*\n/, ''),
      'a.yaml:4: params.groupKey: missing, expected text; give it in params or for_each\na.yaml:4: params.constructor: unknown field, expected one of groupKey, groupValue, sortBy, options',
    ],
  ])('survives hostile YAML %#', async (text, message) => {
    expect(await messageFor(text)).toBe(message);
  });

  test('refuses cycles, each once', async () => {
    const files = {
      'a.yaml': `${latest}after: [b]\n`,
      'b.yaml': `${latest}after: [c]\n`,
      'c.yaml': `${latest}after: [a]\n`,
      'd.yaml': `${latest}after: [a, d]\n`,
    };
    expect((await refusal(files)).message).toBe(
      [
        'a.yaml:3: after: a cycle: a waits for b waits for c waits for a',
        'd.yaml:3: after: a cycle: d waits for d',
      ].join('\n'),
    );
  });

  test('refuses two jobs that show one table differently', async () => {
    const showing = (options: string) => groups.replace('collection }', `collection, options: ${options} }`);
    const files = {
      'a.yaml': showing('{ showUnverifiedCollections: true, showInscription: false }'),
      'b.yaml': showing('{ showInscription: false, showUnverifiedCollections: true }'),
      'c.yaml': showing('{ showInscription: true }'),
    };
    expect((await refusal(files)).message).toBe(
      [
        'c.yaml:3: params.options.showInscription: true, but false in job a, which brings the table assets too; give both the same',
        'c.yaml:3: params.options.showUnverifiedCollections: left out, but true in job a, which brings the table assets too; give both the same',
      ].join('\n'),
    );
  });

  test.each([
    ['{ showNative: true }', '{}', 'showNative: left out, but true'],
    ['{ showNative: false }', '{}', 'showNative: left out, but false'],
    ['{}', '{ showZeroBalance: true }', 'showZeroBalance: true, but left out'],
  ])('refuses wallet jobs that show %s and %s', async (one, other, message) => {
    const wallets = (params: string) =>
      `describe: d\nmethod: walletBalances\nparams: ${params}\nfor_each: { wallet: { sql: select owner from token_accounts } }\n`;
    expect((await refusal({ 'a.yaml': wallets(one), 'b.yaml': wallets(other) })).message).toBe(
      `b.yaml:3: params.${message} in job a, which brings the table wallet_balances too; give both the same`,
    );
  });

  test('refuses token jobs of which one leaves out empty accounts; lets wallet jobs differ in NFTs', async () => {
    const byMint = `${tokens}for_each: { mint: { sql: select id from assets } }\n`;
    const shows = 'params: { options: { showZeroBalance: true } }\n';
    expect((await refusal({ 'a.yaml': byMint, 'b.yaml': `${byMint}${shows}` })).message).toContain(
      'params.options.showZeroBalance: true, but left out in job a',
    );
    const wallets =
      'describe: d\nmethod: walletBalances\nfor_each: { wallet: { sql: select owner from token_accounts } }\n';
    const jobs = await read({ 'a.yaml': wallets, 'b.yaml': `${wallets}params: { showNfts: true }\n` });
    expect(jobs).toHaveLength(2);
  });
});

describe('an operation refuses', () => {
  test.each([
    [
      'a method that is near one',
      'describe: d\nmethod: getTokenAccount\n',
      `a.yaml:2: method: expected one of ${methods}, got "getTokenAccount", did you mean "getTokenAccounts"?`,
    ],
    [
      'a missing parameter',
      'describe: d\nmethod: getAssetsByGroup\nfor_each: { groupValue: { values: [a] } }\n',
      'a.yaml:1: params.groupKey: missing, expected text; give it in params or for_each',
    ],
    [
      'no parameter of several',
      tokens,
      'a.yaml:1: params: getTokenAccounts needs at least one of mint, owner, in params or for_each',
    ],
    [
      'an unknown and a mistyped parameter',
      `${group}  \nfor_each: { groupValue: { values: [a] } }\n`.replace('collection', '5, groupValeu: x'),
      'a.yaml:3: params.groupKey: expected text, got 5 (put text in quotes)\na.yaml:3: params.groupValeu: unknown field, did you mean "groupValue"?',
    ],
    [
      'a parameter given twice',
      groups.replace('collection', 'collection, groupValue: b'),
      'a.yaml:3: params.groupValue: filled by for_each too; leave it out of params',
    ],
    [
      'a wrong address',
      `${tokens}params:\n  owner: not-an-address\n`,
      'a.yaml:4: params.owner: expected a base58 address of 32 to 44 characters',
    ],
    [
      'an unknown parameter to fill',
      `${tokens}for_each:\n  account: { values: [a] }\n`,
      'a.yaml:4: for_each.account: no parameter of getTokenAccounts a job can fill, expected one of mint, owner',
    ],
    [
      'a parameter that takes no text',
      `${tokens}params: { owner: "${'1'.repeat(32)}" }\nfor_each:\n  options: { values: [a] }\n`,
      'a.yaml:5: for_each.options: no parameter of getTokenAccounts a job can fill, expected one of mint, owner',
    ],
    [
      'two parameters to fill',
      `${tokens}for_each: { owner: { values: [a] }, mint: { values: [b] } }\n`,
      'a.yaml:3: for_each: expected one parameter; to fill several, write for_each: {sql: "select owner, mint from …"}',
    ],
    [
      'two sources',
      `${tokens}for_each:\n  owner: { values: [a], file: x }\n`,
      'a.yaml:4: for_each.owner: expected exactly one of values, file, sql',
    ],
    [
      'an unknown source',
      `${tokens}for_each:\n  owner: { flie: x }\n`,
      'a.yaml:4: for_each.owner.flie: unknown field, did you mean "file"?',
    ],
    [
      'no values',
      `${tokens}for_each:\n  owner: { values: [] }\n`,
      'a.yaml:4: for_each.owner.values: expected array to have >=1 items',
    ],
    [
      'values that are numbers',
      `${tokens}for_each:\n  owner:\n    values:\n      - a\n      - 12\n`,
      'a.yaml:7: for_each.owner.values[1]: expected text, got 12 (put text in quotes)',
    ],
    [
      'incremental without a sort',
      `${latest}mode: incremental\n`,
      'a.yaml:3: mode: getLatestCompressionSignatures has no sort, so incremental cannot tell what is new; expected full',
    ],
    [
      'incremental by id',
      `${groups.replace('collection', 'collection, sortBy: { sortBy: id, sortDirection: desc }')}mode: incremental\n`,
      'a.yaml:3: params.sortBy: incremental needs {sortBy: updated, sortDirection: desc} or recent_action, which it takes when sortBy is left out',
    ],
    [
      'an overlap of no feed',
      `${groups}overlap: 1h\n`,
      'a.yaml:5: overlap: only for feeds; getAssetsByGroup is crawled whole',
    ],
    [
      'full_every of a full job',
      `${groups}full_every: 1d\n`,
      'a.yaml:5: full_every: only for mode: incremental; a full job is a full crawl every time',
    ],
    [
      'since of a list',
      `${groups}since: 1d\n`,
      'a.yaml:5: since: only for feeds; getAssetsByGroup is crawled whole',
    ],
    [
      'since that is none',
      `${latest}since: yesterday\n`,
      'a.yaml:3: since: expected an age (whole numbers with w, d, h, m or s, such as 90s, 1h30m or 2d), {slot: n}, {pages: n} or all',
    ],
    [
      'pages above the limit',
      `${groups}page_size: 1001\n`,
      'a.yaml:5: page_size: expected at most 1000, the limit of getAssetsByGroup',
    ],
    ['half a page', `${groups}page_size: 1.5\n`, 'a.yaml:5: page_size: expected a whole number, got 1.5'],
    [
      'partitions without a sort',
      `${tokens}for_each: { owner: { values: [a] } }\npartitions: 4\n`,
      'a.yaml:4: partitions: getTokenAccounts cannot be split into ranges of ids; expected 1',
    ],
    [
      'partitions in another order',
      `${groups.replace('collection', 'collection, sortBy: { sortBy: created }')}partitions: 4\n`,
      'a.yaml:3: params.sortBy: partitions need {sortBy: id, sortDirection: asc}, which they take when sortBy is left out',
    ],
    [
      'partitions of an incremental job',
      `${groups}mode: incremental\npartitions: 2\n`,
      'a.yaml:6: partitions: an incremental crawl walks one list; expected 1',
    ],
    [
      'a batch without ids',
      'describe: d\nmethod: getAssetBatch\n',
      'a.yaml:1: for_each: missing, getAssetBatch takes its ids from for_each: {ids: …} or params: {ids: [...]}',
    ],
    [
      'a batch over something else',
      'describe: d\nmethod: getAssetBatch\nfor_each: { options: { values: [a] } }\n',
      'a.yaml:3: for_each.options: no parameter of getAssetBatch a job can fill, expected ids',
    ],
    [
      'a batch over columns',
      'describe: d\nmethod: getAssetBatch\nfor_each:\n  sql: select id from assets\n',
      'a.yaml:4: for_each.sql: getAssetBatch takes one list of ids, write for_each: {ids: {sql: …}}',
    ],
    [
      'ids in params',
      'describe: d\nmethod: getAssetBatch\nparams: { ids: [a] }\nfor_each: { ids: { values: [a] } }\n',
      'a.yaml:3: params.ids: filled by for_each too; leave it out of params',
    ],
    [
      'a file that is not there',
      `${tokens}for_each: { owner: { file: none.txt } }\n`,
      'a.yaml:3: for_each.owner.file: cannot read none.txt (ENOENT); paths are relative to the job file',
    ],
    [
      'a folder for a file',
      `${tokens}for_each: { owner: { file: . } }\n`,
      `a.yaml:3: for_each.owner.file: expected a file, <dir> is a folder`,
    ],
    ['a job that is a list', '- a\n- b\n', 'a.yaml:1: expected a mapping (`name: value` lines), got a list'],
  ])('%s', async (_, text, message) => {
    expect(await messageFor(text)).toBe(message);
  });

  test.each(['api_key', 'key', 'apiKey', 'LEDGERLAKE_API_KEY'])(
    'a key in the file (%s), without repeating it',
    async (field) => {
      expect(await messageFor(`${latest}${field}: canary-8f3a\n`)).toBe(
        `a.yaml:3: ${field}: the API key does not belong in this file; set LEDGERLAKE_API_KEY or ` +
          'LEDGERLAKE_API_KEY_FILE in the environment, and replace this key, because others may have read it',
      );
    },
  );
});
