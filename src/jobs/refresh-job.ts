import { findOperation } from '../api/catalogue.ts';
import type { Operation } from '../api/operation.ts';
import type { Job } from './job.ts';
import { readJobs } from './job-file.ts';

const refreshName = '_refresh';

/**
 * The jobs that a command names, or all that have a file. Nobody is asked about assets that no job follows any more unless
 * the built-in job `_refresh` is named, which looks them up after the others.
 * @throws UsageError as readJobs
 */
export async function readNamedJobs(dir: string, names: readonly string[]): Promise<Job[]> {
  const others = names.filter((name) => name !== refreshName);
  if (others.length === names.length) return readJobs(dir, names);
  const jobs = others.length === 0 ? [] : await readJobs(dir, others);
  return [...jobs, refreshJob(jobs.map(({ name }) => name))];
}

/** @param after names of the jobs it comes after */
function refreshJob(after: string[]): Job {
  const operation = findOperation('getAssetBatch') as Operation;
  return {
    name: refreshName,
    file: '',
    tags: [],
    describe: 'Looks up assets that no job follows any more',
    operation,
    params: {},
    forEach: {
      ...{ kind: 'sql', params: ['ids'], line: 0 },
      sql: 'select id from assets where followed = false and burnt is not true order by id',
    },
    ids: null,
    mode: 'full',
    fullEveryMs: null,
    after,
    since: null,
    overlapMs: null,
    pageSize: operation.limit ?? 1,
    partitions: 1,
  };
}
