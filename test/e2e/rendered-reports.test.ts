import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderRunReport } from '../../src/commands/run-report.ts';
import { renderRuns } from '../../src/commands/runs.ts';
import { renderStatus } from '../../src/commands/status.ts';
import { readConfig } from '../../src/config/config.ts';
import { dataFolder } from '../../src/data-folder.ts';
import { readRuns } from '../../src/run/read-runs.ts';
import { readStatus } from '../../src/status/read-status.ts';
import { openInstallation } from '../support/nights.ts';
import { type Call, RpcError, type Script } from '../support/scripted-api.ts';
import { type Account, jobs, ledger, owners } from '../support/three-owners.ts';

const moreForAnn = (account: Account) =>
  account.owner === owners[0] && account.amount === 1 ? { ...account, amount: 9 } : account;

test('a night is reported in words, with what needs attention last; held targets are not failed', async () => {
  const place = await openInstallation(jobs);
  const folder = dataFolder(place.data);
  const tell = async (script: Script) => {
    const { report } = await place.night(script);
    return renderRunReport(report!, folder, true).split('\n');
  };
  const first = await tell(ledger(100));
  expect(first[0]).toMatch(/^run \S+: 6 requests, 60 credits, \d/);
  expect(first.slice(1, 4)).toEqual([
    '  tokens: 3 of 3 targets, 12 records in 6 pages',
    'what changed:',
    '  token_accounts: 12 new',
  ]);
  expect(first).not.toContain('needs attention:');
  expect(await tell(ledger(200, moreForAnn))).toContain('  token_accounts: 1 changed, 11 unchanged');

  const refused = await tell(ledger(300, () => null));
  const attention = refused.indexOf('needs attention:');
  expect(attention).toBeGreaterThan(0);
  expect(refused[attention + 1]).toMatch(/^ {2}NOT PUBLISHED tokens \(3 targets\): vanished/);
  expect(refused.slice(attention).join('\n')).not.toContain('show tables');

  const config = await readConfig({ env: {}, cwd: place.data, needsKey: false });
  const files = { dir: join(place.data, '../jobs'), names: null, jobs: [] };
  const status = renderStatus(await readStatus(folder, config, null, files), folder);
  expect(status).toMatch(/^tokens: 0\/3 targets complete, 3 held back/);
  expect(status).not.toMatch(/failed/);
  expect(status).toContain('received, and not in the tables yet: 0 records, 3 finished crawls');

  const runs = renderRuns(await readRuns(folder, 20, Date.now()), 80).split('\n');
  expect(runs.filter((line) => line.length > 80)).toEqual([]);
  expect(runs[3]).toMatch(/^ {2}not published: tokens: vanished/);
});

test('a target that failed is reported with its reason, and look-ups by what they are', async () => {
  const place = await openInstallation(jobs);
  const folder = dataFolder(place.data);
  const isCat = (call: Call) => call.params.owner === owners[2];
  const night = await place.night((call) =>
    isCat(call) ? new RpcError(-32602, 'no such owner') : ledger(100)(call),
  );
  const text = renderRunReport(night.report!, folder, false);
  expect(text).toContain('  tokens: 2 of 3 targets, 8 records in 4 pages');
  expect(text.split('\n').slice(-2)).toEqual([
    '  tokens: 1 target failed; the next run tries again',
    expect.stringMatching(/^ {4}Cat1+: .*no such owner/),
  ]);
  const { tokens } = night.report!.jobs;
  const renamed = { ...night.report!, jobs: { _confirm: tokens! } };
  expect(renderRunReport(renamed, folder, false)).not.toContain('_confirm');
});
