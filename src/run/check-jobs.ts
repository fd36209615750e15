import type { Job } from '../jobs/job.ts';
import { listQueries } from '../jobs/job-file.ts';
import { checkColumns, type LeaveOut, sqlPlace } from '../jobs/target-checks.ts';
import { resolveIds, resolveTargets, type Target } from '../jobs/targets.ts';
import type { Database } from '../warehouse/database.ts';
import { checkJobSql } from '../warehouse/job-sql.ts';

/**
 * Looks at the SQL of jobs without running it, and at the columns that it gives.
 * @param database confined to its tables
 * @throws UsageError naming the job
 */
export async function checkQueries(database: Database, jobs: readonly Job[]): Promise<void> {
  for (const { job, source } of listQueries(jobs))
    checkColumns(job, source, await checkJobSql(database, sqlPlace(job), source.sql));
}

/**
 * Reads the targets of jobs that stand in files.
 * @param leaveOut as resolveTargets
 * @returns the targets that are known without a query
 * @throws UsageError naming the lines that are wrong
 */
export async function checkTargets(
  jobs: readonly Job[],
  leaveOut?: LeaveOut,
): Promise<Map<Job, readonly Target[]>> {
  const noSql = async () => [];
  const known = new Map<Job, readonly Target[]>();
  for (const job of jobs) {
    if (job.forEach?.kind === 'sql') continue;
    known.set(job, await resolveTargets(job, noSql, leaveOut));
    await resolveIds(job, noSql, leaveOut);
  }
  return known;
}
