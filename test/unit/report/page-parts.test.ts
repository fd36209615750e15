import { expect, test } from 'vitest';
import { layOutTiles } from '../../../src/report/layout.ts';
import { describeChanges } from '../../../src/report/read-examples.ts';
import { listProblems } from '../../../src/report/verdict.ts';
import type { RunSummary } from '../../../src/run/read-runs.ts';

test('a run that an audit kept from publishing needed attention', () => {
  const run: RunSummary = {
    ...{ run: 'r', verb: 'run', jobs: [], startedAt: '2026-01-01T00:00:00Z', finishedAt: null, seconds: 1 },
    ...{ state: 'ended', exitCode: 4, stoppedBy: null, requests: 1, credits: 10, saved: 0 },
    found: { quarantined: 0, stale: 0, refused: [], audits: ['assets_have_owners: 3 rows'] },
  };
  expect(listProblems(run)).toEqual(['audit: assets_have_owners: 3 rows']);
});

test('a change names its columns, not hashes and not what the program keeps for itself', () => {
  const former = { owner: 'Ann', content_hash: 'a', followed: 'false' };
  expect(describeChanges(former, { owner: 'Bea', content_hash: 'b', followed: 'true' })).toBe(
    'owner: Ann → Bea',
  );
  expect(describeChanges(former, { owner: 'Ann', content_hash: 'b', followed: 'true' })).toBe(
    'content changed',
  );
});

test.each([
  [10, 5],
  [6, 6],
  [9, 3],
])('%i tiles stand in %i columns, so that no row is short', (count, columns) => {
  const tiles = Array.from({ length: count }, () => ({ value: '1', label: 'one' }));
  expect(layOutTiles(tiles).text).toContain(`style="--columns:${columns}"`);
});
