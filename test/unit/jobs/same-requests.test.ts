import { expect, test } from 'vitest';
import type { Job } from '../../../src/jobs/job.ts';
import { findSameRequests } from '../../../src/jobs/job-set.ts';
import type { Target } from '../../../src/jobs/targets.ts';
import { newJob } from '../../support/jobs.ts';

const targets = (...owners: string[]) => owners.map((owner) => ({ name: owner, params: { owner } }));

test('jobs that send the same requests for some targets are found, and whether one crawl serves both', () => {
  const [one, other] = [newJob('one', 'getTokenAccounts'), newJob('other', 'getTokenAccounts')];
  const later = newJob('later', 'getTokenAccounts', { after: ['one'] });
  // Its one target has the parameters of another job's.
  const plain = newJob('plain', 'getTokenAccounts', { params: { owner: 'c' } });
  const small = newJob('small', 'getTokenAccounts', { pageSize: 10 });
  const split = newJob('split', 'getTokenAccounts', { partitions: 4 });
  const known = new Map<Job, Target[]>([
    [one, targets('a', 'b', 'c')],
    [other, targets('b', 'c', 'd')],
    [later, targets('a')],
    [plain, [{ name: '', params: {} }]],
    [small, targets('a')],
    [split, targets('a')],
  ]);
  expect(findSameRequests([...known.keys()], known)).toEqual([
    { jobs: ['one', 'other'], targets: 2, once: true },
    { jobs: ['one', 'later'], targets: 1, once: false },
    { jobs: ['one', 'plain'], targets: 1, once: true },
    { jobs: ['other', 'plain'], targets: 1, once: true },
  ]);
});
