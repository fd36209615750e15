import type { Job } from '../../src/jobs/job.ts';
import { findOperation } from '../../src/operations/catalogue.ts';

/** A job as its file's defaults make it. */
export function newJob(name: string, method: string, fields: Partial<Job> = {}): Job {
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
    operation: findOperation(method)!,
    ...fields,
  };
}
