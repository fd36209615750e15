import { appendFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lastRound, openRound } from '../../../src/run/rounds.ts';
import { appendRunLog, makeRunId, type RunEntry, readRunLog } from '../../../src/run/run-log.ts';

async function makeLog(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'ledgerlake-runs-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return join(dir, 'runs.ndjson');
}

const begin = (run: string, jobs = ['a']) => ({ run, verb: 'run', jobs, started_at: 'then' });
const end = (run: string, code: number) => ({ run, finished_at: 'later', exit_code: code, stopped_by: null });

describe('makeRunId', () => {
  test('runs of one second, and of one millisecond, sort as they began', () => {
    const now = new Date('2026-01-01T00:00:00.250Z');
    const ids: string[] = [];
    for (let n = 0; n < 50; n += 1) ids.push(makeRunId(now, ids.at(-1) ?? null));
    expect(ids[0]).toMatch(/^20260101T000000250Z-[0-9a-f]{6}$/);
    expect([...ids].sort()).toEqual(ids);
  });

  test('a clock that went back does not bring a name from before', () => {
    const first = makeRunId(new Date('2026-03-01T10:00:00.999Z'), null);
    const second = makeRunId(new Date('2026-03-01T09:00:00Z'), first);
    expect(second).toMatch(/^20260301T100001000Z-/);
    expect(makeRunId(new Date('2026-03-02T00:00:00Z'), second)).toMatch(/^20260302T000000000Z-/);
  });

  test('a name of another form does not matter', () => {
    expect(makeRunId(new Date('2026-03-01T10:00:00Z'), 'nightly')).toMatch(/^20260301T100000000Z-/);
  });
});

describe('the run log', () => {
  test('a missing file has no runs; what was begun and ended comes back in order', async () => {
    const path = await makeLog();
    expect(await readRunLog(path)).toEqual([]);
    await appendRunLog(path, begin('r1'));
    await appendRunLog(path, end('r1', 75));
    await appendRunLog(path, begin('r2', ['b']));
    const r1 = { run: 'r1', verb: 'run', jobs: ['a'], startedAt: 'then', stoppedBy: null };
    expect(await readRunLog(path)).toEqual([
      { ...r1, finishedAt: 'later', exitCode: 75 },
      { ...r1, run: 'r2', jobs: ['b'], finishedAt: null, exitCode: null },
    ]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test('a run that resets twice, by --full-refresh and by --accept, has reset both', async () => {
    const path = await makeLog();
    await appendRunLog(path, begin('r1'));
    await appendRunLog(path, { run: 'r1', reset: ['a'] });
    await appendRunLog(path, { run: 'r1', reset: ['b/t1'] });
    expect((await readRunLog(path)).map(({ reset }) => reset)).toEqual([['a', 'b/t1']]);
  });

  test('half a line costs its own run only', async () => {
    const path = await makeLog();
    await appendRunLog(path, begin('r1'));
    await appendFile(path, '{"run":"r2","ver');
    await appendRunLog(path, begin('r3'));
    // Nor does a line that is no run at all.
    await appendFile(path, '"x"\n5\n');
    await appendRunLog(path, end('r3', 0));
    await appendFile(path, '{"run":"r4"');
    expect((await readRunLog(path)).map(({ run, exitCode }) => [run, exitCode])).toEqual([
      ['r1', null],
      ['r3', 0],
    ]);
  });
});

describe('rounds', () => {
  const run = (name: string, exitCode: number | null, jobs = ['a']): RunEntry => ({
    run: name,
    verb: 'run',
    jobs,
    startedAt: '',
    finishedAt: null,
    exitCode,
    stoppedBy: null,
  });

  test.each<[string, RunEntry[], string | null]>([
    ['no run yet', [], null],
    ['after 0', [run('r1', 0)], null],
    ['after 3: some targets failed', [run('r1', 3)], null],
    ['after 4: an audit refused some', [run('r1', 4)], null],
    ['after 75', [run('r1', 75)], 'r1'],
    ['after a kill', [run('r1', null)], 'r1'],
    ['after an error', [run('r1', 1)], 'r1'],
    ['after a full disk', [run('r1', 74)], 'r1'],
    ['after a refused key', [run('r1', 77)], 'r1'],
    ['the first of several', [run('r0', 0), run('r1', 75), run('r2', null)], 'r1'],
    ['ended by a later run', [run('r1', 75), run('r2', 0)], null],
    ['begun again', [run('r1', 75), run('r2', 0), run('r3', 75)], 'r3'],
    ['runs of other jobs do not matter', [run('r1', 75), run('r2', 0, ['b'])], 'r1'],
    ['nor open ones', [run('r1', 0), run('r2', 75, ['b'])], null],
  ])('the open one: %s', (_, runs, round) => expect(openRound(runs, 'a')).toBe(round));

  test.each<[string, RunEntry[], string | null]>([
    ['no run yet', [], null],
    ['after 0', [run('r1', 0)], 'r1'],
    ['its first run, also when that was stopped', [run('r1', 75), run('r2', null), run('r3', 3)], 'r1'],
    ['the newest', [run('r1', 0), run('r2', 75), run('r3', 0)], 'r2'],
    ['an open one after it does not matter', [run('r1', 0), run('r2', 75)], 'r1'],
    ['nor do runs of other jobs', [run('r1', 0), run('r2', 0, ['b'])], 'r1'],
  ])('the last finished one: %s', (_, runs, round) => expect(lastRound(runs, 'a', null)).toBe(round));

  test('the last finished one up to a run', () => {
    const runs = [run('r1', 0), run('r2', 75), run('r3', 0), run('r4', 3)];
    expect(['r0', 'r1', 'r3', 'r4'].map((most) => lastRound(runs, 'a', most))).toEqual([
      ...[null, 'r1', 'r2', 'r4'],
    ]);
  });
});
