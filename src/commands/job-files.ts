import { UsageError } from '../errors.ts';
import { listJobNames, readJobs } from '../jobs/job-file.ts';
import type { JobFiles } from '../status/read-status.ts';

/** Job files with mistakes do not hide what was published. */
export async function readJobFiles(jobsDir: string): Promise<JobFiles> {
  return {
    dir: jobsDir,
    names: await unlessRefused(listJobNames(jobsDir), null),
    jobs: await unlessRefused(readJobs(jobsDir), []),
  };
}

function unlessRefused<T, U>(read: Promise<T>, otherwise: U): Promise<T | U> {
  return read.catch((error: unknown) => {
    if (error instanceof UsageError) return otherwise;
    throw error;
  });
}
