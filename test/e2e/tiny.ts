import { onTestFinished } from 'vitest';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server.ts';
import { exportOnly, startSmallWorld } from '../chaos/crash/small-world.ts';
import { makeProject, type Project, writeFiles } from '../support/project.ts';

/** A sandbox over a ledger of 300 assets, closed when the test ends, and a place for it, where runs export an empty table. */
export async function startTiny(options: SandboxOptions = {}): Promise<{ sandbox: Sandbox; place: Project }> {
  const sandbox = await startSmallWorld(7, { assets: 300, owners: 30, latencyMs: 1, ...options });
  onTestFinished(() => sandbox.close());
  const place = await makeProject();
  await exportOnly(place, 'webhooks');
  return { sandbox, place };
}

/** One job: every collection, in pages of `pageSize`. */
export async function writeListJob({ jobs }: Project, { world }: Sandbox, pageSize = 20): Promise<void> {
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
