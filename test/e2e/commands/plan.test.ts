import { describe, expect, test } from 'vitest';
import { describeExcess } from '../../../src/commands/confirm-spending.ts';
import { renderPlan } from '../../../src/commands/plan.ts';
import type { JobPlan } from '../../../src/run/plan-jobs.ts';
import { runProgram } from '../../support/program.ts';
import { environmentOf, writeFiles } from '../../support/project.ts';
import { openTinyWorld, writeListJob } from '../../support/small-world.ts';

test('a job whose SQL reads what a job before it brings asks for at least what is known now', async () => {
  const { sandbox, place } = await openTinyWorld();
  await writeListJob(place, sandbox, 200);
  await writeFiles(place.jobs, {
    'owners.yaml': `
describe: The accounts of three owners
method: getTokenAccounts
after: [list]
for_each: { owner: { sql: select owner from assets where owner is not null group by 1 order by 1 limit 3 } }
`,
  });
  const plan = async (...args: string[]) => (await runProgram(['plan', ...args], { cwd: place.root })).stdout;
  expect(await plan()).toMatch(/owners: its targets are known once list has been published/);
  const ended = await runProgram(['run'], { cwd: place.root, env: environmentOf(sandbox) });
  expect(ended.code, ended.stderr).toBe(0);
  const text = await plan();
  expect(text).toMatch(/^list +\d+ +\d+ +\d+ /m);
  expect(text).toMatch(/^owners +3 +\d+\+ +\d+\+ /m);
  expect(text).toMatch(/^owners: more for new targets that list will bring$/m);
  expect(text).toMatch(/^total +\d+ +\d+\+ +\d+\+ /m);
  expect(JSON.parse(await plan('--json'))).toMatchObject({
    unknown: ['owners'],
    jobs: [
      { job: 'list', growsWith: [] },
      { job: 'owners', growsWith: ['list'] },
    ],
  });
  expect(await plan('list')).toMatch(/^total +\d+ +\d+ +\d+ /m);
  // `run --dry-run` is the same, and asks nothing.
  const asked = sandbox.requests.length;
  const dry = await runProgram(['run', 'list', '--dry-run'], {
    cwd: place.root,
    env: environmentOf(sandbox),
  });
  expect(dry).toMatchObject({ code: 0, stdout: await plan('list') });
  expect(sandbox.requests.length).toBe(asked);
});

const known: JobPlan = {
  ...{ job: 'collections', targets: 12, tasks: 12, open: 0, unknown: 0, incremental: 0 },
  ...{
    requests: 1204,
    pastShort: 0,
    requestsMost: 1204,
    credits: 12_040,
    rps: 10,
    rateFrom: 'config',
    seconds: 120.4,
  },
  ...{ diskBytes: 2_640_000_000, waitsFor: null, targetsLeftOut: 0, growsWith: [] },
};

test('a table of the jobs: requests as the last crawl had, or a range with its reason', () => {
  const plan: JobPlan[] = [
    known,
    { ...known, job: 'creators', incremental: 12, requests: 12, credits: 120, seconds: 1.2, diskBytes: 0 },
    {
      ...known,
      job: 'new',
      pastShort: 2,
      unknown: 2,
      requestsMost: null,
      rps: null,
      seconds: null,
      diskBytes: 0,
    },
    { ...known, job: 'owners', waitsFor: 'new', requests: 0, credits: 0, targets: 0, tasks: 0, diskBytes: 0 },
  ];
  expect(renderPlan(plan, { credits: 500_000, left: 20_000 })).toBe(
    `job          targets  requests     credits  of month       time    disk
───────────  ───────  ────────  ──────────  ────────  ─────────  ──────
collections       12     1,204      12,040     2.4 %  2 min 0 s  2.6 GB
creators          12  12-1,204  120-12,040     0.0 %      1.2 s
new               12    1,204+     12,040+     2.4 %          ?
owners             ?         ?           ?         ?          ?
total             36    2,420+     24,200+     4.8 %          ?  2.6 GB
creators: 12 targets only for what changed, which may be all
new: 2 tasks never crawled to the end: the first crawl shows how many pages there are
new: 2 requests to check that a short page was the last of its list (api.short_page_ends)
new: no rate is known yet: set api.limits, or the first run finds it
owners: its targets are known once new has been published
left of api.monthly_credits in this billing month: 20,000 credits: the run stops when they are spent (exit 75), and a later one continues`,
  );
});

describe('somebody is asked before a run', () => {
  const usual = {
    ...{ requests: 100, credits: 1000, maxRequests: null, maxCredits: null },
    ...{ monthlyLeft: null, lastCredits: null },
  };
  test.each([
    ['the first of a folder, without a budget', {}, null],
    ['as the last one', { lastCredits: 900 }, null],
    [
      'ten times the last one',
      { lastCredits: 100 },
      'this run is to spend 1,000 credits or more, the last one spent 100',
    ],
    ['of which the last one asked nothing', { lastCredits: 0 }, null],
    [
      'more than the month has left',
      { monthlyLeft: 999 },
      'this run is to spend 1,000 credits or more, and this month has 999 left: it would stop there',
    ],
    ['as much as the month has left', { monthlyLeft: 1000 }, null],
    ['bounded by --max-credits', { lastCredits: 100, maxCredits: 500, monthlyLeft: 600 }, null],
    ['bounded by --max-requests', { lastCredits: 100, maxRequests: 10, monthlyLeft: 600 }, null],
  ])('%s', (_, spending, description) => expect(describeExcess({ ...usual, ...spending })).toBe(description));
});
