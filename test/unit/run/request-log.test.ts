import { appendFile, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { AttemptEntry } from '../../../src/api/client-state.ts';
import {
  listOldRequests,
  openRequestLog,
  sumCredits,
  sumRequests,
  sumRequestsByRun,
} from '../../../src/run/request-log.ts';

async function makeLog(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerlake-requests-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, 'requests.ndjson');
}

function attempt(day: number, credits = 10): AttemptEntry {
  return {
    ...{ at: `2026-01-0${day}T00:00:00.000Z`, operation: 'getAsset', pool: 'das', credits },
    ...{ outcome: 'ok', status: 200, latencyMs: 1, bytes: 2, attempt: 1 },
  };
}

function add(path: string, run: string, ...attempts: AttemptEntry[]): void {
  const log = openRequestLog(path, run);
  for (const entry of attempts) log.add(entry);
  log.close();
}

const since = (day: number) => Date.UTC(2026, 0, day);

test('every attempt is a line, for the owner only; credits are summed from a moment on', async () => {
  const path = await makeLog();
  add(path, 'r1', attempt(1), attempt(2, 1));
  add(path, 'r2', attempt(3, 100));
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { run: 'r1', ...attempt(1) },
    { run: 'r1', ...attempt(2, 1) },
    { run: 'r2', ...attempt(3, 100) },
  ]);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await sumCredits(path, since(1))).toBe(111);
  expect(await sumCredits(path, since(2))).toBe(101);
  expect(await sumCredits(path, since(4))).toBe(0);
});

test('requests that were saved are no attempts and cost nothing', async () => {
  const path = await makeLog();
  add(path, 'r1', attempt(1), attempt(1));
  const log = openRequestLog(path, 'r2');
  log.addSaved({ name: 'getAssetsByGroup', pool: 'das' }, 99);
  log.add({ ...attempt(1), at: new Date().toISOString() });
  log.close();
  expect(await sumCredits(path, 0)).toBe(30);
  expect(await sumRequests(path, 0)).toEqual({ requests: 3, credits: 30, saved: 99 });
  expect(await sumRequests(path, since(2))).toEqual({ requests: 1, credits: 10, saved: 99 });
  expect(await sumRequestsByRun(path)).toEqual(
    new Map([
      ['r1', { requests: 2, credits: 20, saved: 0 }],
      ['r2', { requests: 1, credits: 10, saved: 99 }],
    ]),
  );
});

test('no log yet: nothing is spent', async () => expect(await sumCredits(await makeLog(), 0)).toBe(0));

test.each([
  ['half a line', '{"run":"r1","at":"2026-'],
  ['zeros, as a power loss leaves them', '\0'.repeat(10_000)],
  ['half a line longer than a block', `{"run":"${'x'.repeat(10_000)}`],
])('%s at the end is cut, the lines before and after count', async (_, tail) => {
  const path = await makeLog();
  add(path, 'r1', attempt(1), attempt(2));
  await appendFile(path, tail);
  add(path, 'r2', attempt(3));
  expect(await sumCredits(path, since(1))).toBe(30);
  expect((await readFile(path, 'utf8')).split('\n').length).toBe(4);
});

test('a log of half a line only is emptied', async () => {
  const path = await makeLog();
  await appendFile(path, '{"run"');
  add(path, 'r1');
  expect(await readFile(path, 'utf8')).toBe('');
});

test.each([
  ['blank lines', '\n\n'],
  ['bytes of something else', '\x01\x80\n"\n[1]\nnull\n{"run":"r1"}\n'],
])('%s between the lines count as nothing', async (_, between) => {
  const path = await makeLog();
  add(path, 'r1', attempt(1), attempt(2));
  await appendFile(path, between);
  add(path, 'r2', attempt(3));
  expect(await sumCredits(path, since(1))).toBe(30);
  expect(await listOldRequests(path, since(3))).toEqual(new Set(['r1']));
});
