import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { dataFolder } from '../../../src/data-folder.ts';
import { openSession } from '../../../src/run/open-session.ts';
import { readRuns } from '../../../src/run/read-runs.ts';

test('a run counts as running from its first moment, whatever its verb, and as killed without a state', async () => {
  const root = await mkdtemp(join(tmpdir(), 'run-state-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const folder = dataFolder(root);
  const config = await readConfig({ env: {}, cwd: root, needsKey: false });
  const log = pino({ level: 'silent' });
  const states = async () => (await readRuns(folder, 5, Date.now())).map(({ state }) => state);
  for (const verb of ['publish', 'run']) {
    const session = await openSession({ config, folder, log, verb, jobs: [], origins: {} });
    expect((await states())[0]).toBe('running');
    await session.end(0, null);
  }
  const killed = await openSession({ config, folder, log, verb: 'rebuild', jobs: [], origins: {} });
  onTestFinished(() => killed.end(1, null));
  await rm(folder.runState);
  expect(await states()).toEqual(['killed', 'ended', 'ended']);
});
