import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { RawReply, startScriptedApi } from '../support/scripted-api.ts';
import { openWorkplace } from '../support/workplace.ts';

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
  const api = await startScriptedApi({ sendsDate: false });
  onTestFinished(() => api.close());
  api.setScript(({ params }) => {
    const ids = params.ids as string[];
    if (ids.length > 10) throw new RawReply('too large', 413);
    answered.push(...ids);
    return ids.map((id) => ({ id, interface: 'V1_NFT', ownership: { owner: id } }));
  });
  return { url: api.url, answered };
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
});
