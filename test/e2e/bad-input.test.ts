import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readCheckpoints } from '../chaos/crash/content.ts';
import { expectFailure } from '../chaos/crash/failure.ts';
import { daily } from '../levels.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf, makeProject, type Project, writeFiles } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const address = '11111111111111111111111111111111';
const job = (fields: string) => `describe: test\nmethod: getAssetsByCreator\n${fields}\n`;
const good = job(`for_each: { creatorAddress: { values: ['${address}'] } }`);

/** A place whose only job file is this one. */
async function placeOf(text: string, files: Record<string, string> = {}): Promise<Project> {
  const place = await makeProject();
  await writeFiles(place.jobs, { 'list.yaml': text, ...files });
  await writeFiles(place.root, { 'ledgerlake.yaml': 'sample: true\n' });
  return place;
}

describe('what the user wrote: exit 2, and nothing is made', () => {
  const sql = (text: string) => job(`for_each: { creatorAddress: { sql: "${text}" } }`);
  test.each<[string, string, string[], RegExp]>([
    ['an unknown job', good, ['run', 'nope'], /no job is called "nope"[\s\S]*The jobs here are list\./],
    ['a job that is nearly known', good, ['run', 'lists'], /"lists"[\s\S]*list/],
    ['malformed YAML', 'describe: [a\nmethod: x', ['run'], /list\.yaml:\d/],
    ['a tab in YAML', 'describe: a\n\tmethod: x', ['run'], /list\.yaml:2/],
    ['an empty file', '', ['run'], /list\.yaml/],
    [
      'an unknown operation',
      good.replace('Creator', 'Creater'),
      ['run'],
      /list\.yaml:2[\s\S]*getAssetsByCreator/,
    ],
    ['an unknown parameter', job('params: { onlyVerifyd: true }'), ['run'], /list\.yaml:3[\s\S]*onlyVerifyd/],
    ['an unknown field', `${good}foreach: {}`, ['run'], /foreach/],
    ['a missing target file', job('for_each: { creatorAddress: { file: t.txt } }'), ['run'], /t\.txt/],
    ['a wrong budget', good, ['run', '--max-requests', '1.5'], /--max-requests/],
    ['an empty budget', good, ['run', '--max-requests='], /--max-requests takes a whole number, not ""/],
    ['a budget in words', good, ['run', '--max-credits', 'abc'], /not "abc"/],
    ['a wrong duration', good, ['run', '--until', 'tomorrow'], /--until/],
    ['an unknown option', good, ['run', '--max-request', '5'], /max-?request/i],
    ['an unknown command', good, ['runn'], /run/],
    ['no command', good, [], /Which command/],
  ])('%s', async (_, text, args, message) => {
    const place = await placeOf(text);
    const ended = await runProgram(args, { cwd: place.root });
    expectFailure(ended, 2, message);
    expect(ended.stdout).toBe('');
    expect(existsSync(place.data)).toBe(false);
  });

  test.each<[string, string, RegExp]>([
    [
      'a value that is no address',
      job('for_each: { creatorAddress: { values: [abc] } }'),
      /list\.yaml:3: for_each\.creatorAddress\.values\[0\]: expected a base58/,
    ],
    [
      'a table that does not exist',
      sql('select x from nowhere'),
      /list\.yaml:3: for_each\.creatorAddress\.sql: [\s\S]*nowhere/,
    ],
    ['text that is no SQL', sql('selct 1'), /list\.yaml:3: for_each\.creatorAddress\.sql: [\s\S]*selct/],
    ['two statements', sql('select 1; select 2'), /exactly one SELECT/],
    ['a change', sql('delete from assets'), /exactly one SELECT/],
    ['a change behind a SELECT', sql('select owner from assets; drop table assets'), /exactly one SELECT/],
    ['a setting', sql('set threads = 1'), /exactly one SELECT/],
    [
      'a file',
      sql("select * from read_csv('/etc/passwd')"),
      /list\.yaml:3: for_each\.creatorAddress\.sql: [\s\S]*(disabled|permission)/i,
    ],
    ['a file by name', sql("select * from '/etc/passwd'"), /list\.yaml:3: for_each\.creatorAddress\.sql: /],
    [
      'a text file',
      sql("select content as owner from read_text('/etc/passwd')"),
      /list\.yaml:3: for_each\.creatorAddress\.sql: /,
    ],
    [
      'a write to a file',
      sql("copy (select 1) to '/tmp/ledgerlake-no'"),
      /list\.yaml:3: for_each\.creatorAddress\.sql: /,
    ],
    ['another database', sql("attach '/tmp/ledgerlake-no'"), /list\.yaml:3: for_each\.creatorAddress\.sql: /],
    ['a column that is no address', sql('select 1 as creatorAddress'), /creatorAddress|list/],
  ])('before anything is asked: %s', async (_, text, message) => {
    const { sandbox } = await openTinyWorld();
    const place = await placeOf(text);
    const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
    expectFailure(ended, 2, message);
    expect(sandbox.requests).toEqual([]);
    expect(existsSync('/tmp/ledgerlake-no')).toBe(false);
  });

  test('a target file of comments only', async () => {
    const text = job('for_each: { creatorAddress: { file: t.txt } }');
    const place = await placeOf(text, { 't.txt': '# none yet\n\n  \n' });
    const { sandbox } = await openTinyWorld();
    const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
    expectFailure(ended, 2, /t\.txt holds no target/);
    expect(sandbox.requests).toEqual([]);
  });

  test('a URL without a key', async () => {
    const place = await placeOf(good);
    const env = { LEDGERLAKE_RPC_URL: 'http://127.0.0.1:9', LEDGERLAKE_API_KEY: ' ' };
    expectFailure(
      await runProgram(['run'], { cwd: place.root, env }),
      2,
      /no API key[\s\S]*LEDGERLAKE_API_KEY_FILE/,
    );
    expect(existsSync(place.data)).toBe(false);
  });
});

daily('targets with spaces, quotes, comments and duplicates: each once, as written', async () => {
  const { sandbox } = await openTinyWorld();
  const [collection] = sandbox.world.truth().collections() as [string];
  const odd = ['it\'s "odd" ok', 'two  words', 'é\u2028x', "x'; drop table assets; --", '../../x', '%s\\n'];
  const text =
    'describe: t\nmethod: getAssetsByGroup\nparams: { groupKey: family }\nfor_each: { groupValue: { file: t.txt } }\n';
  const lines = ['\ufeff# ours', `  ${collection}\t`, ...odd, collection, `${odd[0]} # again`, ''];
  const place = await placeOf(text, { 't.txt': lines.join('\r\n') });
  const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
  expect(ended.code, ended.stderr).toBe(0);
  const checkpoints = await readCheckpoints(join(place.data, 'warehouse.duckdb'));
  expect(checkpoints.map(({ target, state }) => `${target} ${state}`).sort()).toEqual(
    [collection, ...odd].map((target) => `${target} complete`).sort(),
  );
});

describe('the key', () => {
  test.each([
    ['a wrong one', 'not-the-key', /key/],
    ['one that may use nothing', 'sandbox-forbidden', /may use none[\s\S]*dashboard/],
  ])('%s: 77, and the right one goes on', async (_, key, message) => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    const env = { ...environmentOf(sandbox), LEDGERLAKE_API_KEY: key };
    const refused = await runProgram(['run'], { cwd: place.root, env });
    expectFailure(refused, 77, message);
    expect(refused.stderr + refused.stdout).not.toContain(key);
    expect(sandbox.requests.length).toBeLessThan(5);
    const before = sandbox.requests.length;
    const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
    expect(ended.code, ended.stderr).toBe(0);
    expect(sandbox.requests.length).toBeGreaterThan(before + 3);
  });
});

daily('SQL of a job that runs after another is looked at before anything is asked', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const env = environmentOf(sandbox);
  for (const [query, message] of [
    ['select ownr from assets', /late\.yaml:4: for_each\.owner\.sql: [\s\S]*"ownr"/],
    ['select owner form assets', /late\.yaml:4: for_each\.owner\.sql: Parser Error/],
    ['select interrupted from assets', /late\.yaml:4: for_each\.owner\.sql[\s\S]*"interrupted"/],
    [
      'select owner, id from assets',
      /for_each\.owner\.sql: expected one column, the SELECT gives 2 \(owner, id\)/,
    ],
    ["select owner from read_csv('/etc/hostname')", /late\.yaml:4: for_each\.owner\.sql: Permission Error/],
    ['delete from assets', /late\.yaml:4: for_each\.owner\.sql: expected exactly one SELECT/],
    [
      'select owner from assets where seq = $1',
      /late\.yaml:4: for_each\.owner\.sql: [\s\S]*without parameters/,
    ],
    ['select seq from assets', /for_each\.owner\.sql: seq is not text; write `seq::varchar`/],
  ] as const) {
    const late = `describe: test\nmethod: getTokenAccounts\nafter: [list]\nfor_each: { owner: { sql: "${query}" } }\n`;
    await writeFiles(place.jobs, { 'late.yaml': late });
    expectFailure(await runProgram(['run'], { cwd: place.root, env }), 2, message);
    expectFailure(await runProgram(['jobs', 'check'], { cwd: place.root }), 2, message);
  }
  expect(sandbox.requests.length).toBe(0);
});

daily(
  'a job whose SQL gives a row that is no target, or fails at one, is left out: 3, and the others go on',
  async () => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    const env = environmentOf(sandbox);
    const late = (query: string) =>
      `describe: test\nmethod: getTokenAccounts\nafter: [list]\nfor_each: { owner: { sql: "${query}" } }\n`;
    const sound = 'select distinct owner from assets where owner is not null order by owner limit 3';
    await writeFiles(place.jobs, {
      'null.yaml': late('select case when seq > 0 then owner end from assets'),
      'overflow.yaml': late('select (1::ubigint - 2::ubigint + leaf_id)::varchar from assets'),
      'sound.yaml': late(sound),
    });
    const ended = await runProgram(['run', '--json'], { cwd: place.root, env });
    expect(ended.code, ended.stderr).toBe(3);
    expect(JSON.parse(ended.stdout).jobs).toMatchObject({
      list: { failed: 0, leftOut: null },
      null: {
        tasks: 0,
        leftOut: expect.stringMatching(/null\.yaml:4: for_each\.owner\.sql: row \d+: [\s\S]* is null/),
      },
      overflow: { tasks: 0, leftOut: expect.stringContaining('Overflow') },
      sound: { tasks: 3, done: 3, leftOut: null },
    });
    expect(ended.stderr).toMatch(/"level":50[^\n]*"job":"null"[^\n]*ledgerlake plan/);
    const checkpoints = await readCheckpoints(join(place.data, 'warehouse.duckdb'));
    expect(new Set(checkpoints.map(({ job: name }) => name))).toEqual(new Set(['list', 'sound']));
    // What is left out is said to a person too, and comes back when its SQL is right.
    expect((await runProgram(['run', 'null'], { cwd: place.root, env })).stdout).toMatch(
      /null: left out of this run: .*row \d+/,
    );
    await writeFiles(place.jobs, { 'null.yaml': late(sound), 'overflow.yaml': late(sound) });
    const repaired = await runProgram(['run'], { cwd: place.root, env });
    expect(repaired.code, repaired.stderr).toBe(0);
  },
);

daily('a target file of a later job is read before anything is asked', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const files = { 'late.txt': `"${address}"\n` };
  const late = job('after: [list]\nfor_each: { creatorAddress: { file: late.txt } }');
  await writeFiles(place.jobs, { 'late.yaml': late, ...files });
  expectFailure(
    await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) }),
    2,
    /late\.txt:1: /,
  );
  expect(sandbox.requests.length).toBe(0);
});

test.each(['run', 'plan'])(
  '%s of a job that has nobody to ask: 2, before anything is asked',
  async (verb) => {
    const { sandbox, place } = await openTinyWorld();
    await writeListJob(place, sandbox);
    const wallets = `describe: test\nmethod: walletBalances\nafter: [list]\nfor_each: { wallet: { sql: select owner from assets } }\n`;
    await writeFiles(place.jobs, { 'wallets.yaml': wallets });
    const ended = await runProgram([verb], { cwd: place.root, env: environmentOf(sandbox) });
    expectFailure(
      ended,
      2,
      /wallets\.yaml: walletBalances asks the wallet interface[\s\S]*LEDGERLAKE_WALLET_URL/,
    );
    expect(sandbox.requests.length).toBe(0);
    expect(existsSync(place.data)).toBe(false);
  },
);

test.each([
  ['a full disk', '/dev/full', 'no space left'],
  // Of the shell itself, which has nothing at address 0: EIO.
  ['a disk that fails', '/proc/self/mem', 'i/o error'],
])('output that cannot be written, to %s: 74', (_, file, message) => {
  const script = `exec 3>${file}; "${process.execPath}" "${cli}" tables >&3; exit $?`;
  const ended = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  expect(ended).toMatchObject({ status: 74, stderr: expect.stringContaining(message) });
});

test.each(['jobs/pipe.yaml', 'jobs/t.txt', 'ledgerlake.yaml'])(
  'a pipe in the place of %s: 2',
  async (name) => {
    const place = await placeOf(job('for_each: { creatorAddress: { file: t.txt } }'), { 't.txt': address });
    await rm(join(place.root, name), { force: true });
    execFileSync('mkfifo', [join(place.root, name)]);
    expectFailure(
      await runProgram(['run', '--sample'], { cwd: place.root }),
      2,
      new RegExp(`${basename(name)} \\(no regular file`),
    );
  },
);

daily('more targets than a call has arguments', async () => {
  const letters = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
  const name = (n: number) =>
    address.slice(4) + [3, 2, 1, 0].map((power) => letters[Math.floor(n / 58 ** power) % 58]).join('');
  const targets = Array.from({ length: 150_000 }, (_, n) => name(n)).join('\n');
  const place = await placeOf(job('for_each: { creatorAddress: { file: t.txt } }'), { 't.txt': targets });
  const ended = await runProgram(['run', '--sample', '--max-requests', '3'], { cwd: place.root });
  expect(ended.code, ended.stderr).toBe(75);
});

daily('jobs check reads the values of a job', async () => {
  const place = await placeOf(job(`for_each: { creatorAddress: { values: ['0xdeadbeef', '${address}'] } }`));
  const message = /list\.yaml:3: for_each\.creatorAddress\.values\[0\]: /;
  expectFailure(await runProgram(['jobs', 'check'], { cwd: place.root }), 2, message);
});

daily('jobs check reads the target files', async () => {
  const files = { 't.txt': `${address}\n"${address}"\n${address} ${address}\n` };
  const place = await placeOf(job('for_each: { creatorAddress: { file: t.txt } }'), files);
  const ended = await runProgram(['jobs', 'check'], { cwd: place.root });
  expectFailure(ended, 2, /t\.txt:2: [\s\S]*t\.txt:3: /);
});

test('a table or a column that is not there, in the config: 2 with its line, before anything is asked', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  await writeFiles(place.root, {
    'ledgerlake.yaml': 'lake:\n  keep: 1\n  partition_by: {assets_history: [nope]}\n',
    'a.yaml': 'lake:\n  tables: [asset]\n',
    'b.yaml': 'lake:\n  partition_by: {asset: [owner]}\n',
  });
  for (const verb of ['plan', 'run']) {
    const refused = async (message: RegExp, ...args: string[]) =>
      expectFailure(
        await runProgram([verb, ...args], { cwd: place.root, env: environmentOf(sandbox) }),
        2,
        message,
      );
    await refused(/ledgerlake\.yaml:3: lake\.partition_by: assets_history has no column "nope"/);
    await refused(
      /a\.yaml:2: lake\.tables: there is no table "asset"\n {2}The tables are /,
      '--config',
      'a.yaml',
    );
    await refused(/b\.yaml:2: lake\.partition_by: there is no table "asset"/, '--config', 'b.yaml');
  }
  expect(sandbox.requests).toEqual([]);
});

daily(
  'a ledgerlake.yml, which would not be read: 2, unless --config or a ledgerlake.yaml is there',
  async () => {
    const place = await placeOf(good);
    await rm(join(place.root, 'ledgerlake.yaml'));
    await writeFiles(place.root, { 'ledgerlake.yml': 'api: {monthly_credits: 1}\n' });
    for (const verb of ['run', 'status'])
      expectFailure(
        await runProgram([verb], { cwd: place.root }),
        2,
        /ledgerlake\.yml is not read[\s\S]*Rename it to ledgerlake\.yaml, or name it with --config/,
      );
    const check = (...args: string[]) => runProgram(['plan', ...args], { cwd: place.root });
    expect(await check('--config', 'ledgerlake.yml')).toMatchObject({ code: 0 });
    await writeFiles(place.root, { 'ledgerlake.yaml': '' });
    expect(await check()).toMatchObject({ code: 0 });
  },
);

test('a reader that goes away is no failure', () => {
  const { status, stderr } = spawnSync(
    'bash',
    ['-c', `${process.execPath} ${cli} methods | true; exit \${PIPESTATUS[0]}`],
    {
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

daily('an unreachable host: 69, and the same command goes on when it is there', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox);
  const { port } = new URL(sandbox.url);
  await sandbox.close();
  const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
  expectFailure(ended, 69, /unreachable[\s\S]*Check the network/);
  const again = await openTinyWorld({ port: Number(port) });
  const { code, stderr } = await runProgram(['run'], { cwd: place.root, env: environmentOf(again.sandbox) });
  expect(code, stderr).toBe(0);
});
