import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { openWorkplace } from './night.ts';

const ids = Array.from(
  { length: 40 },
  (_, n) => 'Group'.padEnd(41, '1') + 'ABCDEFGH'.charAt(n >> 3) + 'JKLMNPQR'.charAt(n & 7),
);

const files = {
  'jobs/list.yaml': `describe: test
method: getAssetBatch
for_each: {ids: {values: [${ids.join(', ')}]}}
`,
};

/** An API that answers at most ten ids at once. @returns the ids it answered, one list a request */
async function startApi(): Promise<{ url: string; answered: string[] }> {
  const answered: string[] = [];
  const server = createServer(async (request, response) => {
    // The tests move the clock of the program, and answers would tell the time.
    response.sendDate = false;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: string;
      params: { ids: string[] };
    };
    if (params.ids.length > 10) return response.writeHead(413).end('too large');
    answered.push(...params.ids);
    const result = params.ids.map((one) => ({ id: one, interface: 'V1_NFT', ownership: { owner: one } }));
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answered };
}

test('a clock that goes back between runs: every id of a batch is answered once', async () => {
  const api = await startApi();
  const place = await openWorkplace(api.url, files);
  onTestFinished(() => place.remove());
  const run = (aheadMs: number, ...options: string[]) => {
    const shift = encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${aheadMs};`);
    const env = { LEDGERLAKE_RPC_URL: api.url, LEDGERLAKE_API_KEY: 'sandbox' };
    const shifted = { ...env, NODE_OPTIONS: `--import=data:text/javascript,${shift}` };
    return runProgram(['run', ...options], { cwd: place.root, env: shifted }).then(({ code }) => code);
  };
  // An hour ahead the whole slice is cut once; then it is cut further, and parts of it land.
  expect(await run(3_600_000, '--max-requests', '1')).toBe(75);
  expect(await run(0, '--max-requests', '3')).toBe(75);
  expect(await run(0, '--max-requests', '2')).toBe(75);
  expect(await run(0)).toBe(0);
  expect([...api.answered].sort()).toEqual([...ids].sort());
}, 60_000);
