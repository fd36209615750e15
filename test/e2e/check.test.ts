import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { expectFailure } from '../chaos/crash/failure.ts';
import { daily } from '../levels.ts';
import { runProgram, startProgram } from '../support/program.ts';
import { makeProject, writeFiles } from '../support/project.ts';
import { type Call, RpcError, type Script, startScriptedApi } from '../support/scripted-api.ts';

const collections = [2, 3].map((n) => `CSJMp3LmxCDvjnxJSHGD3vUmzPtJ5nUc7JmBZWQqvr${n}Y`);
const asset = {
  id: '8JnNWJ46yfdq8sKgT1Lk4G7VWkAA8Rhh7LhqgJ6WY41G',
  interface: 'V1_NFT',
  ownership: { frozen: 'maybe' },
};

let slot = 100;

/** Every list holds these, on one page. */
const list =
  (items: readonly unknown[]): Script =>
  ({ params }: Call) => {
    const isFirst = (params.page ?? 1) === 1 && params.after === undefined;
    return { last_indexed_slot: ++slot, total: items.length, limit: 1000, items: isFirst ? items : [] };
  };

async function openPlace() {
  const api = await startScriptedApi();
  onTestFinished(() => api.close());
  const place = await makeProject();
  await writeFiles(place.root, {
    'jobs/list.yaml': `describe: Two collections
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { values: [${collections}] } }
`,
    'ledgerlake.yaml': 'lake: { tables: [webhooks] }\n',
  });
  const options = { cwd: place.root, env: { LEDGERLAKE_RPC_URL: api.url, LEDGERLAKE_API_KEY: 'key' } };
  const run = (...args: string[]) => runProgram(args, options);
  const check = async (...args: string[]) => {
    const { code, stdout, stderr } = await run('check', '--json', ...args);
    return { code, stderr, ...JSON.parse(stdout) };
  };
  return { api, place, run, check, start: (...args: string[]) => startProgram(args, options) };
}

test('complete and fresh: 0; older than --max-age: 5 and a line a target', async () => {
  const { api, run, check } = await openPlace();
  api.setScript(list([]));
  expect((await run('run')).code).toBe(0);
  expect(await check()).toMatchObject({ code: 0, exitCode: 0, maxAgeSeconds: 93_600, findings: [] });
  expect(await run('check')).toMatchObject({ code: 0, stdout: 'all is complete and fresh\n', stderr: '' });
  await sleep(1100);
  const aged = await run('check', '--max-age', '1s');
  expect(aged.code).toBe(5);
  expect(aged.stdout.trim().split('\n').sort()).toEqual(
    collections.map((target) => expect.stringMatching(`^too old: list ${target}: last complete at 20`)),
  );
});

test('failed, never complete, damaged: each a finding', async () => {
  const { api, place, run, check } = await openPlace();
  api.setScript((call) =>
    call.params.groupValue === collections[0] ? new RpcError(-32602, 'Invalid params') : list([asset])(call),
  );
  expect((await run('run')).code).toBe(3);
  expect(await check('list')).toMatchObject({
    code: 5,
    findings: [
      {
        kind: 'not complete',
        job: 'list',
        target: collections[0],
        message: expect.stringContaining('Invalid params'),
      },
    ],
  });
  api.setScript(list([]));
  expect((await run('crawl')).code).toBe(0);
  const landing = join(place.data, 'landing');
  const name = (await readdir(landing)).find((file) => file.endsWith('.pages.ndjson')) as string;
  const text = await readFile(join(landing, name), 'utf8');
  await writeFile(join(landing, name), text.replace('"list"', '"lost"'));
  const { findings } = await check();
  expect(findings.at(-1)).toMatchObject({
    kind: 'damaged',
    message: expect.stringContaining('line 1, is damaged'),
  });
});

test('quarantined records within the limit, which the run has reported, are no finding', async () => {
  const { api, run } = await openPlace();
  api.setScript(list([asset]));
  expect((await run('run')).stdout).toMatch(/record.* quarantined/);
  expect(await run('check')).toMatchObject({ code: 0, stdout: 'all is complete and fresh\n' });
});

test('records that publish refused: `refused`, with the reason', async () => {
  const { api, run, check } = await openPlace();
  api.setScript(list(Array.from({ length: 60 }, (_, odd) => ({ odd }))));
  expect((await run('run')).code).toBe(4);
  const { code, findings } = await check();
  expect(code).toBe(5);
  // Counted over the job, it is told once.
  expect(findings.filter(({ kind }: { kind: string }) => kind === 'refused')).toMatchObject([
    {
      kind: 'refused',
      job: 'list',
      message: expect.stringMatching(/120 of 120 .*--accept r[0-9a-f]{8}$/),
    },
  ]);
});

daily('a last run that failed, and one that was killed', async () => {
  const { api, place, run, check, start } = await openPlace();
  api.setScript(list([]));
  expect((await run('run')).code).toBe(0);
  api.setScript(() => new RpcError(-32429, 'max usage reached'));
  expect((await run('run')).code).toBe(69);
  expect((await check()).findings).toMatchObject([
    { kind: 'last run', job: '', message: expect.stringMatching(/ended with 69: .*max usage reached/) },
  ]);
  api.setScript(() => new Promise(() => {}));
  const atWork = start('run');
  while (api.calls.length === 0) await sleep(5);
  // No lock, and what another process has open does not matter.
  expect(await check()).toMatchObject({ code: 0, findings: [] });
  atWork.child.kill('SIGKILL');
  await atWork.ended;
  expect((await check()).findings).toMatchObject([
    { kind: 'last run', message: expect.stringMatching(/was killed/) },
  ]);
  expect(await readdir(place.data)).not.toContain('damaged');
});

test('a job that is none, a folder where nothing was run: 2', async () => {
  const { api, run } = await openPlace();
  expectFailure(await run('check'), 2, /nothing was run in data yet/);
  api.setScript(list([]));
  await run('run');
  expectFailure(await run('check', 'lists'), 2, /lists/);
});

daily('a line of a target file that the last run left out; a reset that failed is no last run', async () => {
  const { api, place, run, check } = await openPlace();
  await writeFiles(place.root, {
    'jobs/list.yaml': `describe: Two collections
method: getAssetsByCreator
for_each: { creatorAddress: { file: collections.txt } }
`,
    'jobs/collections.txt': `${collections.join('\n')}\nnonsense\n`,
  });
  api.setScript(list([]));
  expect((await run('run')).code).toBe(3);
  expect((await run('state', 'reset', 'nothing', '--yes')).code).toBe(2);
  expect(await check()).toMatchObject({
    code: 5,
    findings: [{ kind: 'left out', job: 'list', message: expect.stringMatching(/collections\.txt.*3/) }],
  });
  await writeFiles(place.root, { 'jobs/collections.txt': `${collections.join('\n')}\n` });
  expect((await run('run')).code).toBe(0);
  expect((await run('state', 'reset', 'nothing', '--yes')).code).toBe(2);
  expect(await check()).toMatchObject({ code: 0, findings: [] });
  expect((await run('status')).stdout).toMatch(/last run \S+: exit 0/);
});
