import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { renderLogLine } from '../../../src/commands/log-text.ts';
import { wrapText } from '../../../src/commands/visible-text.ts';
import type { Task } from '../../../src/jobs/task.ts';
import type { LandedCrawl } from '../../../src/landing/reader.ts';
import { createLiveJobs, createPace, type LiveJobs } from '../../../src/run/live-jobs.ts';
import { type ProgressView, renderProgress } from '../../../src/run/render-progress.ts';
import { idle, type LiveJob, type RunActivity } from '../../../src/run/run-state.ts';
import { canRedraw, createScreen } from '../../../src/screen.ts';

const job = (counts: Partial<LiveJob>): LiveJob => ({
  ...{ tasks: 0, before: 0, done: 0, failed: 0, forbidden: 0, failures: [], pages: 0, records: 0 },
  ...{ requests: 0, retries: 0, credits: 0, leftOut: null, targetsLeftOut: [] },
  ...{ planned: true, share: 0, pool: 'das', rps: 0, limitRps: null, etaSeconds: null, ...counts },
});

const view = (jobs: Record<string, LiveJob>, more: Partial<ProgressView> = {}): ProgressView => ({
  ...{ jobs: new Map(Object.entries(jobs)), coming: [], elapsedSeconds: 61, requests: 1234, credits: 12340 },
  ...{ activity: idle, ended: false, now: 1_000_000, ...more },
});

const size = (columns: number, rows = 24) => ({ columns, rows });

describe('lines on a terminal', () => {
  const jobs = {
    collections: job({ tasks: 3, done: 3, share: 1, records: 9000, credits: 940 }),
    owners: job({
      ...{ tasks: 80, before: 20, done: 20, share: 0.4, failed: 1, records: 1200, credits: 11_400 },
      ...{ retries: 2, rps: 9.7, limitRps: 10, etaSeconds: 150 },
    }),
    _confirm: job({ planned: false }),
  };

  test('one a job, a total, and where a run that goes on stands', () => {
    expect(renderProgress(view(jobs, { coming: ['tokens'] }), size(130))).toEqual([
      'collections               ████████████  3/3     done                    940 credits                          9,000 records',
      'owners                    █████░░░░░░░  40/100  ETA 2 min  9.7 of 10/s  11,400 credits  2 retries  1 failed  1,200 records',
      'look-ups of rows that l…                waits',
      'tokens                                  waits',
      'total  61 s  9.7 of 10/s  1,234 requests  12,340 credits  2 retries',
    ]);
  });

  test('a narrow terminal leaves out fields, the least useful first', () => {
    const { collections, owners } = jobs;
    const at = (columns: number) => renderProgress(view({ collections, owners }), size(columns));
    expect([40, 50, 60, 80, 100].map((columns) => at(columns).at(1))).toEqual([
      'owners       ██░░░░  40/100  ETA 2 min',
      'owners       ██░░░░  40/100  ETA 2 min  1 failed',
      'owners       █████░░░░░░░  40/100  ETA 2 min  1 failed',
      'owners       █████░░░░░░░  40/100  ETA 2 min  9.7 of 10/s  2 retries  1 failed',
      'owners       █████░░░░░░░  40/100  ETA 2 min  9.7 of 10/s  11,400 credits  2 retries  1 failed',
    ]);
    expect([40, 60].map((columns) => at(columns).at(-1))).toEqual([
      'total  61 s  ETA 2 min  9.7 of 10/s',
      'total  61 s  ETA 2 min  9.7 of 10/s  2 retries',
    ]);
  });

  test.each([40, 41, 60, 80, 200])('none is as wide as %i columns', (width) => {
    const many = { ...jobs, '名前の長い仕事-with-a-long-name-behind-it': job({ tasks: 100_000, done: 1 }) };
    const activity = { ...idle, heldUntil: 1_090_000 };
    const told = renderProgress(view(many, { activity }), size(width));
    expect(told.length).toBe(6);
    expect(told.filter((line) => stringWidth(line) >= width)).toEqual([]);
  });

  test('what it waits for, and what is in flight as it stops', () => {
    const last = (activity: Partial<RunActivity>) =>
      renderProgress(view(jobs, { activity: { ...idle, ...activity } }), size(100)).at(-1);
    const heldUntil = 1_090_000;
    expect(last({ heldUntil })).toMatch(/^waiting for the API until \d\d:\d\d:\d\d, Retry-After$/);
    expect(last({ restsUntil: heldUntil })).toMatch(
      /^the API does not answer: asked again at \d\d:\d\d:\d\d$/,
    );
    expect(last({ heldUntil, stopping: true, inFlight: 7 })).toBe('stopping, 7 requests in flight');
    expect(last({ stopping: true, stage: 'publishing' })).toBe('stopping, publishing');
    expect(last({ stage: 'exporting' })).toBe('exporting');
  });

  test('what stays when it has ended says how far each job came', () => {
    const told = renderProgress(view(jobs, { coming: ['tokens'], ended: true }), size(80));
    expect(told.map((line) => line.split(/ {2,}/).slice(1, 4))).toEqual([
      ['████████████', '3/3', 'done'],
      ['█████░░░░░░░', '40/100', 'stopped'],
      ['not begun'],
      ['not begun'],
      ['61 s', '1,234 requests', '12,340 credits'],
    ]);
  });

  test('of many jobs, those at work; no more than the terminal is high', () => {
    const many = (atWork: number) =>
      Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => [`j${n}`, job({ tasks: 2, done: n < atWork ? 1 : 2 })]),
      );
    const lines = renderProgress(view(many(1)), size(80));
    expect(lines.length).toBe(3);
    expect(lines[0]).toContain('j0');
    expect(lines[1]).toBe('and 39 more jobs');
    expect(renderProgress(view(many(30)), size(80, 10)).length).toBe(8);
  });
});

describe('counts of a run at work', () => {
  const start = (id: string, expected: number | null = null, resumed = 0) => ({
    task: { id, job: 'list', target: id, operation: { pool: 'das' } } as Task,
    expected: expected === null ? null : { pages: expected, records: 0 },
    resume:
      resumed === 0 ? null : ({ pages: new Set(Array.from({ length: resumed }).keys()) } as LandedCrawl),
  });
  const look = (live: LiveJobs, now: number) => live.view(now, () => 10).get('list')!;

  test('the bar and the ETA go by the pages of the last crawl, those of a stopped one included', () => {
    const live = createLiveJobs();
    live.planned('list', 1);
    live.addTasks([start('a', 40, 10), start('b', 60)], 1);
    expect(look(live, 0)).toMatchObject({ share: 0.4, etaSeconds: null, limitRps: 10 });
    for (let page = 0; page < 40; page += 1) live.onPage(start('b').task, 100, page * 250);
    // Half of the two that are left, of three targets; four pages a second, 50 to come.
    expect(look(live, 10_000)).toMatchObject({ share: 0.667, etaSeconds: 13, pages: 40, records: 4000 });
  });

  test('what was never crawled is expected to be as long as the others, once ten have ended', () => {
    const live = createLiveJobs();
    const starts = Array.from({ length: 20 }, (_, n) => start(`${n}`));
    live.addTasks(starts, 1);
    for (const [n, { task }] of starts.slice(0, 10).entries()) {
      for (const half of [0, 500]) live.onPage(task, 5, n * 1000 + half);
      expect(look(live, n * 1000 + 600)).toMatchObject({ share: n / 20, etaSeconds: null });
      live.onTaskEnd(task, null);
    }
    expect(look(live, 10_000)).toMatchObject({ done: 10, share: 0.5, etaSeconds: 10 });
  });

  test('requests, retries and credits are of the job that asked', () => {
    const live = createLiveJobs();
    live.addTasks([start('a')], 1);
    live.onAttempt({ attempt: 1, credits: 10 }, 'list', 0);
    live.onAttempt({ attempt: 2, credits: 10 }, 'list', 1000);
    expect(look(live, 2000)).toMatchObject({ requests: 2, retries: 1, credits: 20, rps: 1 });
  });
});

test('the screen erases what a narrower window has wrapped, and log lines stand above', () => {
  let written = '';
  const stream = { columns: 60, write: (text: string) => (written += text) };
  const screen = createScreen(stream);
  screen.draw(['a'.repeat(59), 'b']);
  stream.columns = 20;
  written = '';
  screen.writeAbove('told\n');
  expect(written).toBe(`\u001b[4A\r\u001b[Jtold\n${'a'.repeat(59)}\nb\n`);
  written = '';
  screen.draw(['c']);
  expect(written).toBe('\u001b[4A\r\u001b[Jc\n');
  // What stands there already is not drawn again.
  written = '';
  screen.draw(['c']);
  expect(written).toBe('');
  expect(canRedraw({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
  expect(canRedraw({ isTTY: true }, { TERM: 'xterm' })).toBe(true);
});

test('log lines are words: no braces, nothing that a terminal obeys', () => {
  const line = JSON.stringify({
    ...{ level: 40, time: '2026-11-23T07:00:00.000Z', job: 'owners', target: 'x\u001b[2J', refused: 0 },
    ...{ tables: { assets: { inserted: 3, gone: 0 } }, msg: 'target failed' },
  });
  expect(renderLogLine(line)).toMatch(
    /^\d\d:\d\d:\d\d warning: target failed: job owners, target x␛\[2J, tables \(assets \(inserted 3\)\)\n$/,
  );
  const tables = {
    assets: { inserted: 3, confirmed: 9 },
    webhooks: { gone: 1 },
    priority_fees: { confirmed: 2 },
  };
  const published = JSON.stringify({ level: 30, crawls: 2, refused: 1, tables, msg: 'published' });
  expect(renderLogLine(published)).toBe('published 2 crawls, 1 refused: assets 3 new; webhooks 1 gone\n');
});

test('the pace is of the last seconds', () => {
  const pace = createPace();
  for (let at = 0; at < 20_000; at += 100) pace.add(at);
  expect(pace.perSecond(20_000)).toBeGreaterThan(9);
  expect(pace.perSecond(20_000)).toBeLessThan(11);
  expect(pace.perSecond(60_000)).toBe(0);
});

test('lines are broken between words, and a command stays whole', () => {
  const text = '  list: 4 records do not fit, mostly: lone-surrogate (ledgerlake quarantine list)\nshort';
  expect(wrapText(text, 40).split('\n')).toEqual([
    '  list: 4 records do not fit, mostly:',
    '    lone-surrogate',
    '    (ledgerlake quarantine list)',
    'short',
  ]);
  expect(wrapText(text, null)).toBe(text);
});
