import { onTestFinished } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server.ts';
import { makePlace, type Place, writeFiles } from '../chaos/crash/program.ts';
import { exportOnly, startSmallWorld } from '../chaos/crash/small-world.ts';

/** A sandbox over a ledger of 300 assets, closed when the test ends, and a place for it, where runs export an empty table. */
export async function startTiny(options: SandboxOptions = {}): Promise<{ sandbox: Sandbox; place: Place }> {
  const sandbox = await startSmallWorld(7, { assets: 300, owners: 30, latencyMs: 1, ...options });
  onTestFinished(() => sandbox.close());
  const place = await makePlace();
  await exportOnly(place, 'webhooks');
  return { sandbox, place };
}

/** One job: every collection, in pages of `pageSize`. */
export async function writeListJob({ jobs }: Place, { world }: Sandbox, pageSize = 20): Promise<void> {
  await writeFiles(jobs, {
    't.txt': world.truth().collections().join('\n'),
    'list.yaml': `
describe: Every asset of every collection
method: getAssetsByGroup
params: { groupKey: collection }
for_each: { groupValue: { file: t.txt } }
page_size: ${pageSize}
`,
  });
}
