import type { Job, TargetSource } from '../jobs/job.ts';
import { listQueries, readJobs } from '../jobs/job-file.ts';
import { checkQueries, checkTargets } from '../pipeline/check-jobs.ts';
import { confineToTables } from '../warehouse/job-sql.ts';
import { withEmptyTables } from '../warehouse/model.ts';
import { createPrint, type GlobalArgs } from './context.ts';
import { formatTable } from './text-table.ts';
import type { Usage } from './usage.ts';

export const usage: Usage = {
  arguments: {
    '<action>': { describe: 'check: read every job file, ask nothing', choices: ['check'] },
  },
  examples: {
    'ledgerlake jobs check': 'Every problem with its file and line, or the jobs in the order they run',
    'ledgerlake jobs check --jobs-dir my-jobs --json': 'Another folder, for a program',
  },
};

export async function execute(args: GlobalArgs): Promise<number> {
  const jobs = await readJobs(args.jobsDir);
  await checkTargets(jobs);
  if (listQueries(jobs).length > 0)
    await withEmptyTables(async (database) => {
      await confineToTables(database);
      await checkQueries(database, jobs);
    });
  const rows = jobs.map((job) => [
    job.name,
    job.operation.name,
    job.mode,
    describeTargets(job),
    job.describe,
  ]);
  const columns = ['job', 'operation', 'mode', 'targets', 'what it brings'].map((name) => ({ name }));
  const count = jobs.length === 1 ? '1 job, no problems' : `${jobs.length} jobs, no problems`;
  createPrint(args)(`${formatTable(columns, rows)}\n${count}`, jobs.map(describeJob));
  return 0;
}

function describeJob(job: Job) {
  const { name, file, describe, operation, mode, after, forEach } = job;
  return {
    name,
    file,
    describe,
    operation: operation.name,
    mode,
    after,
    targets: forEach === null && job.ids === null ? null : describeTargets(job),
  };
}

/** Where a job's targets come from, in a few words. */
function describeTargets({ forEach, ids }: Job): string {
  if (ids !== null) return `${ids.length} ${ids.length === 1 ? 'id' : 'ids'} in params`;
  return forEach === null ? 'one' : describeSource(forEach);
}

function describeSource(source: TargetSource): string {
  const params = source.params.length === 0 ? '' : `${source.params.join(', ')} from `;
  if (source.kind === 'file') return `${params}${source.path}`;
  if (source.kind === 'sql') return `${params}SQL`;
  return `${params}${source.values.length} ${source.values.length === 1 ? 'value' : 'values'}`;
}
