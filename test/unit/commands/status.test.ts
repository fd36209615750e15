import { expect, test } from 'vitest';
import { renderStatus } from '../../../src/commands/status.ts';
import type { Status } from '../../../src/status/read-status.ts';

const lastRun = { run: 'r', finishedAt: '2026-01-01T00:00:00Z', stoppedBy: null };
const none: Omit<Status, 'lastRun'> = {
  ...{ jobs: [], targets: null, gaps: [], held: [], waiting: [], unfollowed: {}, dropped: [] },
  ...{ absent: 0, landed: { crawls: 0, open: 0, records: 0 }, running: null, snapshotMissing: true },
  ...{ creditsThisMonth: 0, creditsLeft: null, savedThisMonth: 0 },
} as unknown as Omit<Status, 'lastRun'>;

test.each([
  [75, 'there is no snapshot yet: the next run continues'],
  [null, 'there is no snapshot yet: the next run continues'],
  [0, 'the snapshot is missing: `ledgerlake publish` restores it'],
])('no snapshot after a run that ended with %s', (exitCode, line) => {
  const status = { ...none, lastRun: { ...lastRun, exitCode } } as Status;
  expect(renderStatus(status, { root: 'data' }).split('\n')[0]).toContain(line);
});
