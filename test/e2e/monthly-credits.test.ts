import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { askedTwice, expectFailure } from '../chaos/crash/failure.ts';
import { runProgram } from '../support/program.ts';
import { environmentOf, writeFiles } from '../support/project.ts';
import { openTinyWorld, writeListJob } from '../support/small-world.ts';

test('monthly credits hold across runs, and start anew with the billing month', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 10);
  await writeFiles(place.root, { 'ledgerlake.yaml': 'api: {monthly_credits: 105}\n' });
  const env = environmentOf(sandbox);
  const run = () => runProgram(['crawl'], { cwd: place.root, env });
  const spent = /the monthly credits \(api\.monthly_credits\) are spent[\s\S]*next billing period/;

  // A list's page costs 10 credits: ten pages, and none that would pass the limit.
  expectFailure(await run(), 75, spent);
  expect(sandbox.requests).toHaveLength(10);
  expectFailure(await run(), 75, spent);
  expect(sandbox.requests, 'nothing is asked in what is left of the month').toHaveLength(10);
  const outputOf = async (command: string) => (await runProgram([command], { cwd: place.root, env })).stdout;
  await outputOf('publish');
  expect(await outputOf('plan')).toMatch(
    /^left of api\.monthly_credits in this billing month: 5 credits: the run stops/m,
  );
  expect(await outputOf('status')).toMatch(/^credits this billing month: 100, 5 left$/m);

  // What was spent lies a billing month back.
  const log = join(place.data, 'requests.ndjson');
  const aged = (at: string) => new Date(Date.parse(at) - 32 * 86_400_000).toISOString();
  const lines = await readFile(log, 'utf8');
  await writeFile(
    log,
    lines.replace(/"at":"([^"]+)"/g, (_, at) => `"at":"${aged(at)}"`),
  );
  expectFailure(await run(), 75, spent);
  expect(sandbox.requests).toHaveLength(20);
  expect(askedTwice(sandbox), 'it went on where it stopped').toEqual([]);
});

test('an API that cannot be reached costs no credits', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 10);
  await writeFiles(place.root, { 'ledgerlake.yaml': 'api: {monthly_credits: 105}\n' });
  // A port that is free: nobody listens at it.
  const env = { LEDGERLAKE_RPC_URL: 'http://127.0.0.1:9', LEDGERLAKE_API_KEY: 'sandbox' };
  const { code, stdout } = await runProgram(['crawl', '--json'], { cwd: place.root, env });
  expect([code, JSON.parse(stdout)]).toEqual([69, expect.objectContaining({ credits: 0 })]);
  const lines = (await readFile(join(place.data, 'requests.ndjson'), 'utf8')).trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(
    lines.map(() => expect.objectContaining({ outcome: 'unreachable', credits: 0 })),
  );
});
