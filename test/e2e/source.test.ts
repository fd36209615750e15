import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { expectFailure } from '../chaos/crash/failure.ts';
import { runProgram } from '../support/program.ts';
import { makeProject, writeFiles } from '../support/project.ts';
import { type Call, type Script, type ScriptedApi, startScriptedApi } from '../support/scripted-api.ts';

const collections = [2, 3].map((n) => `CSJMp3LmxCDvjnxJSHGD3vUmzPtJ5nUc7JmBZWQqvr${n}Y`);
const letters = 'abcdefghijkmnopqrstu';
const idOf = (n: number) => `8JnNWJ46yfdq8sKgT1Lk4G7VWkAA8Rhh7LhqgJ6WY4${letters[n]}G`;
const signatureOf = (n: number) => `${letters[n]}`.repeat(88);

/** The same ledger by any provider: two lists of five assets, and a feed of ten signatures; cursors bear its name. */
function ledgerOf(provider: string): Script {
  return ({ operation, params }: Call) => {
    const at =
      params.cursor === undefined || params.cursor === null ? 0 : Number(String(params.cursor).split(':')[1]);
    const next = (end: number) => (at + 2 < end ? `${provider}:${at + 2}` : null);
    if (operation === 'getAssetsByGroup') {
      const first = 5 * collections.indexOf(params.groupValue);
      const items = [0, 1].map((n) => at + n).filter((n) => n < 5);
      return {
        last_indexed_slot: 500,
        total: 5,
        limit: 2,
        items: items.map((n) => ({
          id: idOf(first + n),
          interface: 'V1_NFT',
          ownership: { owner: collections[0] },
        })),
        cursor: next(5),
      };
    }
    const items = [0, 1].map((n) => at + n).filter((n) => n < 10);
    return {
      context: { slot: 500 },
      value: {
        cursor: next(11),
        items: items.map((n) => ({ signature: signatureOf(n), slot: 490 - n, blockTime: 1_700_000_000 - n })),
      },
    };
  };
}

async function startProvider(name: string): Promise<ScriptedApi> {
  const api = await startScriptedApi();
  onTestFinished(() => api.close());
  api.setScript(ledgerOf(name));
  return api;
}

async function openPlace() {
  const [one, two] = [await startProvider('one'), await startProvider('two')];
  const place = await makeProject();
  await writeFiles(place.root, {
    'jobs/list.yaml': `describe: Two collections
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collections}] } }
page_size: 2
`,
    'jobs/feed.yaml':
      'describe: The newest signatures\nmethod: getLatestCompressionSignatures\nsince: all\npage_size: 2\n',
    'ledgerlake.yaml': 'lake: { tables: [webhooks] }\n',
  });
  const at =
    (api: ScriptedApi) =>
    (...args: string[]) =>
      runProgram(args, { cwd: place.root, env: { LEDGERLAKE_RPC_URL: api.url, LEDGERLAKE_API_KEY: 'key' } });
  return { one, two, place, atOne: at(one), atTwo: at(two) };
}

type Opened = Awaited<ReturnType<typeof openPlace>>;

async function rows({ atTwo }: Opened, sql: string): Promise<unknown[]> {
  return JSON.parse((await atTwo('sql', '--format', 'json', sql)).stdout);
}

/** Cursors that a provider was asked with and that it did not give. */
const foreign = ({ calls }: ScriptedApi, provider: string) =>
  calls
    .map(({ params }) => params.cursor)
    .filter((cursor) => cursor != null && !cursor.startsWith(`${provider}:`));

/** What a run at the second provider ends with, whatever was done before: everything, by no cursor of the first. */
async function expectWhole(opened: Opened): Promise<void> {
  const { two, atTwo } = opened;
  const ended = await atTwo('run');
  expect(ended.code, ended.stderr).toBe(0);
  expect(foreign(two, 'two')).toEqual([]);
  expect(await rows(opened, 'select count(*) as n from assets')).toEqual([{ n: 10 }]);
  expect(await rows(opened, 'select count(*) as n from compression_signatures')).toEqual([{ n: 10 }]);
  expect(await rows(opened, "select count(*) as n from meta.checkpoints where state <> 'complete'")).toEqual([
    { n: 0 },
  ]);
  expect(await rows(opened, "select count(*) as n from meta.coverage where state = 'gap'")).toEqual([
    { n: 0 },
  ]);
}

test('another URL of the same ledger takes over: rows and complete crawls stay, open ones begin anew without old cursors', async () => {
  const opened = await openPlace();
  const { one, two, place, atOne, atTwo } = opened;
  expect((await atOne('run', '--max-requests', '5')).code).toBe(75);
  const kept = await rows(opened, 'select signature from compression_signatures order by all');
  expect(kept.length).toBeGreaterThan(0);
  expect(await rows(opened, "select cursor from meta.coverage where state = 'gap'")).toEqual([
    { cursor: expect.stringMatching(/^one:/) },
  ]);
  expectFailure(
    await atTwo('run'),
    2,
    new RegExp(
      `holds data of ${one.url}[\\s\\S]*Check the spelling of LEDGERLAKE_RPC_URL first[\\s\\S]*ledgerlake source move ${two.url}`,
    ),
  );

  // One host may serve two ledgers by path.
  const atPath = { LEDGERLAKE_RPC_URL: `${one.url}/devnet/{key}`, LEDGERLAKE_API_KEY: 'key' };
  const config = 'api: { auth: { rpc: path } }\nlake: { tables: [webhooks] }\n';
  await writeFiles(place.root, { 'devnet.yaml': config });
  const there = await runProgram(['run', '--config', 'devnet.yaml'], { cwd: place.root, env: atPath });
  expectFailure(there, 2, new RegExp(`holds data of ${one.url}, but the run would ask ${one.url}/devnet\\n`));

  expectFailure(await atTwo('source', 'move', two.url), 2, /there is no terminal to confirm on/);
  expectFailure(await atTwo('source', 'move', 'example'), 2, /the URL is not a URL/);
  expect(JSON.parse((await atTwo('source', 'show', '--json')).stdout)).toEqual({ rpc: one.url });
  const moved = await atTwo('source', 'move', two.url, '--yes');
  expect(moved.code, moved.stderr).toBe(0);
  expect((await atTwo('source', 'show')).stdout).toBe(`rpc: ${two.url}\n`);
  expectFailure(await atOne('run'), 2, /holds data of/);

  expect(await rows(opened, 'select signature from compression_signatures order by all')).toEqual(kept);
  expect(await rows(opened, "select cursor from meta.coverage where state = 'gap'")).toEqual([
    { cursor: null },
  ]);
  expect(two.calls).toEqual([]);
  await expectWhole(opened);
});

test('killed right after it began, the move is made by the next command', async () => {
  const opened = await openPlace();
  const { two, place, atOne } = opened;
  expect((await atOne('run', '--max-requests', '5')).code).toBe(75);
  const line = {
    run: '20991231T000000000Z-abcdef',
    verb: 'source',
    jobs: [],
    started_at: new Date().toISOString(),
  };
  await appendFile(
    join(place.data, 'runs.ndjson'),
    `${JSON.stringify({ ...line, moved: { rpc: two.url } })}\n`,
  );
  expect((await opened.atTwo('publish')).code).toBe(0);
  await expectWhole(opened);
});

test('a rebuild from nothing knows the move', async () => {
  const opened = await openPlace();
  const { two, atOne, atTwo } = opened;
  expect((await atOne('run', '--max-requests', '5')).code).toBe(75);
  expect((await atTwo('source', 'move', two.url, '--yes')).code).toBe(0);
  const rebuilt = await atTwo('rebuild', '--from-archive');
  expect(rebuilt.code, rebuilt.stderr).toBe(0);
  expect(
    await rows(opened, "select cursor from meta.coverage where state = 'gap' and cursor is not null"),
  ).toEqual([]);
  await expectWhole(opened);
});

test('sample data are nobody’s ledger, and a folder that nothing was run in is bound to no API: 2', async () => {
  const { two, place, atTwo } = await openPlace();
  expectFailure(await atTwo('source', 'show'), 2, /bound to no API/);
  await runProgram(['run', '--sample', '--max-requests', '3'], { cwd: place.root });
  expectFailure(await atTwo('source', 'move', two.url, '--yes'), 2, /sample data of the sandbox/);
  expect(await readFile(join(place.data, 'runs.ndjson'), 'utf8')).not.toContain('"moved"');
});
