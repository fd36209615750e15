import { expect, test } from 'vitest';
import type { Job } from '../../../src/jobs/job.ts';
import { findSameRequests } from '../../../src/jobs/job-set.ts';
import type { Target } from '../../../src/jobs/targets.ts';
import { findOperation } from '../../../src/operations/catalogue.ts';

function newJob(name: string, fields: Partial<Job> = {}): Job {
  return {
    ...{
      name,
      file: '',
      describe: '',
      params: {},
      forEach: null,
      ids: null,
      mode: 'full',
      fullEveryMs: null,
    },
    ...{ after: [], since: null, overlapMs: null, pageSize: 1000, partitions: 1, tags: [] },
    operation: findOperation('getTokenAccounts')!,
    ...fields,
  };
}

const targets = (...owners: string[]) => owners.map((owner) => ({ name: owner, params: { owner } }));

test('jobs that send the same requests for some targets are found, and whether one crawl serves both', () => {
  const [one, other] = [newJob('one'), newJob('other')];
  const later = newJob('later', { after: ['one'] });
  // Its one target has the parameters of another job's.
  const plain = newJob('plain', { params: { owner: 'c' } });
  const small = newJob('small', { pageSize: 10 });
  const split = newJob('split', { partitions: 4 });
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
