import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { canary, clientOf, errorOf, operation, readJson } from '../../support/api-client.ts';
import { startServer } from '../../support/http-server.ts';
import { echoesOf } from '../../support/key-echoes.ts';
import { startProgram } from '../../support/program.ts';
import { makeProject, type Project } from '../../support/project.ts';
import { startSmallWorld, writeJobs } from '../../support/small-world.ts';
import {
  type EchoFault,
  type EchoServer,
  finalFaults,
  passingFaults,
  startEchoServer,
} from './echo-server.ts';
import { scanFolder, scanText } from './scan.ts';

const echoes = echoesOf(canary);
/** Everything that must not be found; without what also depends on the bytes behind a key. */
const secrets = [...new Set(Object.values(echoes).map((text) => text.replace(/.?=+$/, '')))];
const honest = '{"jsonrpc":"2.0","result":{"last_indexed_slot":5,"items":[{"id":"a"}]}}';

describe.each(Object.entries({ ...passingFaults, ...finalFaults }))('the key %s', (where, fault) => {
  test.each(Object.entries(echoes))('%s: no page, and an error without it', async (_, echo) => {
    const { url } = await startServer((__, response) => fault(response, honest, echo));
    const { client, attempts } = clientOf(url);
    const records = { path: ['items'], form: 'array' } as const;
    const sent = client.send(operation({ records }), {}, readJson);
    if (where === 'in headers') expect(scanText(inspect(await sent, { depth: 9 }), secrets)).toEqual([]);
    else expect(scanText(inspect(await errorOf(sent), { depth: 9, showHidden: true }), secrets)).toEqual([]);
    expect(scanText(JSON.stringify(attempts), secrets)).toEqual([]);
  });
});

/** Runs the program and adds its output, and what other processes see of it, to `outputs`. */
async function runAndListen(args: readonly string[], place: Project, server: EchoServer, outputs: string[]) {
  const env = {
    LEDGERLAKE_RPC_URL: server.url,
    LEDGERLAKE_WALLET_URL: server.url,
    LEDGERLAKE_WEBHOOK_URL: server.url,
    // The key of each interface alone is as secret as that of all.
    LEDGERLAKE_API_KEY: 'not-to-be-sent-anywhere',
    LEDGERLAKE_RPC_API_KEY: canary,
    LEDGERLAKE_WALLET_API_KEY: canary,
    LEDGERLAKE_WEBHOOK_API_KEY: canary,
  };
  const { child, ended } = startProgram(args, { cwd: place.root, env });
  server.onRequest = () => outputs.push(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8'));
  const { code, stdout, stderr } = await ended;
  outputs.push(stdout, stderr);
  return { code, stdout, stderr };
}

/** Every fault and every encoding, though not each with each: the step has no divisor in common with the encodings. */
function someEchoes(faults: Record<string, EchoFault>, step: number): EchoServer['pending'] {
  const all = Object.values(faults).flatMap((fault) =>
    Object.values(echoes).map((echo) => ({ fault, echo })),
  );
  return all.filter((_, n) => n % step === 0);
}

test('whole runs against a server that gives the key back leave it nowhere', async () => {
  const sandbox = await startSmallWorld(11, { assets: 300, owners: 30, latencyMs: 0, apiKey: canary });
  onTestFinished(() => sandbox.close());
  const server = await startEchoServer(sandbox.url);
  const place = await makeProject();
  await writeJobs(place, sandbox);
  const outputs: string[] = [];
  const run = async (...args: string[]) => (await runAndListen(args, place, server, outputs)).code;

  // The retries of one process are bounded, so the faults are spread over several.
  const passing = someEchoes(passingFaults, 5);
  const share = Math.ceil(passing.length / 3);
  for (const verb of ['crawl', 'run', 'run']) {
    server.forget();
    server.pending = passing.splice(0, share);
    await run(verb);
    expect(server.pending).toEqual([]);
    sandbox.tick();
    if (verb === 'crawl') expect(await scanFolder(place.data, secrets)).toEqual([]);
  }
  expect(passing).toEqual([]);
  server.forget();
  expect(await run('run')).toBe(0);
  for (const args of [['export'], ['status'], ['plan'], ['sql', 'from meta.requests limit 5']])
    expect(await run(...args), args.join(' ')).toBe(0);
  for (const pending of someEchoes(finalFaults, 13)) {
    server.pending = [pending];
    expect(await run('call', 'getAsset', `{"id":"${outputs.length}"}`)).not.toBe(0);
  }
  server.pending = [{ fault: finalFaults['in a 401'] as EchoFault, echo: canary }];
  expect(await run('webhook', 'enable', '3f0c9a52-6d1b-4c8e-9a57-0d2f4b6c8e11')).toBe(77);

  expect(outputs.flatMap((text) => scanText(text, secrets))).toEqual([]);
  expect(await scanFolder(place.data, secrets)).toEqual([]);
  await expectScanToFind(place, sandbox.world.truth().collections()[0]!);
});

/** The scan sees what is there: an address of the ledger, in archive, snapshot and exports. */
async function expectScanToFind(place: Project, address: string): Promise<void> {
  const found = (await scanFolder(place.data, [address])).join('\n');
  for (const where of [
    /^archive\/.*parquet, read_parquet/m,
    /^warehouse\.duckdb, .*assets/m,
    /^lake\/assets/m,
  ])
    expect(found).toMatch(where);
  expect(readdirSync(place.data)).toContain('requests.ndjson');
  expect(readFileSync(join(place.data, 'requests.ndjson'), 'utf8')).toContain('getAssetsByGroup');
}
