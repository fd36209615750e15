import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { renderLogLine } from '../../src/commands/log-text.ts';
import { createPace } from '../../src/run/pace.ts';
import { type ProgressView, renderProgress } from '../../src/run/render-progress.ts';
import type { JobProgress } from '../../src/run/run-state.ts';
import { canRedraw, createScreen } from '../../src/screen.ts';

const job = (counts: Partial<JobProgress>): JobProgress => ({
  ...{ tasks: 0, before: 0, done: 0, failed: 0, forbidden: 0, failures: [], pages: 0, records: 0 },
  ...{ leftOut: null, targetsLeftOut: [], ...counts },
});

const view = (jobs: Record<string, JobProgress>, more: Partial<ProgressView> = {}): ProgressView => ({
  ...{ jobs: new Map(Object.entries(jobs)), seconds: new Map([['owners', 50]]), elapsedSeconds: 61 },
  ...{ requests: 1234, credits: 12340, retries: 2, rps: 9.7, limitRps: 10, heldUntil: 0, inFlight: 7 },
  ...{ stopping: false, now: 1_000_000, ...more },
});

describe('lines on a terminal', () => {
  const jobs = {
    collections: job({ tasks: 3, done: 3, records: 9000 }),
    owners: job({ tasks: 80, before: 20, done: 20, failed: 1, records: 1200 }),
    _confirm: job({}),
    '名前の長い仕事-with-a-long-name-behind-it': job({ tasks: 100_000, done: 1 }),
  };

  test('one a job, a total, and where a run that goes on stands', () => {
    expect(renderProgress(view(jobs), 100)).toEqual([
      'collections              ████████████ 3/3  done  9,000 records',
      'owners                   █████░░░░░░░ 40/100  ETA 2 min 30 s  1 failed  1,200 records',
      'look-ups of rows that l… waits',
      expect.stringContaining('1/100,000'),
      'total 1 min 1 s  9.7 of 10/s  1,234 requests  2 retries  12,340 credits',
    ]);
  });

  test.each([40, 41, 60, 80, 200])('none is as wide as %i columns', (width) => {
    const told = renderProgress(view(jobs, { heldUntil: 1_090_000 }), width);
    expect(told.filter((line) => stringWidth(line) >= width)).toEqual([]);
  });

  test('what it waits for, and what is in flight as it stops', () => {
    const last = (more: Partial<ProgressView>) => renderProgress(view(jobs, more), 100).at(-1);
    expect(last({ heldUntil: 1_090_000 })).toMatch(/^waiting for the API until \d\d:\d\d:\d\d, as it asked$/);
    expect(last({ heldUntil: 1_090_000, stopping: true })).toBe('stopping, 7 requests in flight');
  });

  test('of many jobs, those at work', () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`j${n}`, job({ tasks: 2, done: n === 30 ? 1 : 2 })]),
    );
    const lines = renderProgress(view(many), 80);
    expect(lines.length).toBe(3);
    expect(lines[0]).toContain('j30');
    expect(lines[1]).toBe('and 39 more jobs');
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
});

test('the pace is of the last seconds', () => {
  const pace = createPace();
  for (let at = 0; at < 20_000; at += 100) pace.note({ attempt: at % 1000 === 0 ? 2 : 1 }, at);
  expect(pace.rps(20_000)).toBeGreaterThan(9);
  expect(pace.rps(20_000)).toBeLessThan(11);
  expect(pace.retries).toBe(20);
  expect(pace.rps(60_000)).toBe(0);
});
