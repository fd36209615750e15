import type { Job } from '../jobs/job.ts';
import { listQueries } from '../jobs/job-set.ts';
import { checkColumns, type LeaveOut, locateSql } from '../jobs/target-checks.ts';
import { resolveIds, resolveTargets, type Target } from '../jobs/targets.ts';
import type { Database } from '../warehouse/database.ts';
import { checkJobSql, openForJobSql } from '../warehouse/job-sql.ts';
import { checkOwnSql } from '../warehouse/own-views.ts';
import type { Session } from './session.ts';

/**
 * Checks jobs before a request is paid for: the targets in their files, their SQL, and the project's views and audits.
 * @throws UsageError naming the job
 */
export async function checkJobs(session: Session, jobs: readonly Job[]): Promise<void> {
  // Invalid lines are reported, and left out, where the job's targets are planned.
  await checkTargets(jobs, () => undefined);
  const { views, audits } = session.ownSql ?? { views: [], audits: [] };
  if (listQueries(jobs).length + views.length + audits.length === 0) return;
  session.closeBuild();
  const reader = await openForJobSql(session.folder.build, session.databaseOptions);
  try {
    await checkQueries(reader, jobs);
    await checkOwnSql(reader, views, audits);
  } finally {
    reader.close();
  }
}

/**
 * Checks the SQL of jobs without running it, and the columns that it returns.
 * @param database confined to its tables
 * @throws UsageError naming the job
 */
export async function checkQueries(database: Database, jobs: readonly Job[]): Promise<void> {
  for (const { job, source } of listQueries(jobs))
    checkColumns(job, source, await checkJobSql(database, locateSql(job), source.sql));
}

/**
 * Reads the targets of jobs that need no query.
 * @param leaveOut as resolveTargets
 * @throws UsageError naming the invalid lines
 */
export async function checkTargets(
  jobs: readonly Job[],
  leaveOut?: LeaveOut,
): Promise<Map<Job, readonly Target[]>> {
  const noSql = async () => [];
  const targets = new Map<Job, readonly Target[]>();
  for (const job of jobs) {
    if (job.forEach?.kind === 'sql') continue;
    targets.set(job, await resolveTargets(job, noSql, leaveOut));
    await resolveIds(job, noSql, leaveOut);
  }
  return targets;
}
