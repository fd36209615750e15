import { realpath } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { listQueries } from '../jobs/job-set.ts';
import { checkColumns, type LeaveOut, locateSql } from '../jobs/target-checks.ts';
import { chooseTargets, resolveIds, resolveTargets, type Target } from '../jobs/targets.ts';
import type { Database } from '../warehouse/database.ts';
import { checkJobSql, openForJobSql } from '../warehouse/job-sql.ts';
import { checkOwnSql } from '../warehouse/own-views.ts';
import type { Session } from './session.ts';

/**
 * Checks jobs before a request is paid for: their names, the targets in their files, their SQL, and the project's views and audits.
 * @throws UsageError naming the job
 */
export async function checkJobs(session: Session, jobs: readonly Job[]): Promise<void> {
  await session.withBuild((build) => refuseNamesakes(build, session.folder, jobs));
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
 * Refuses a job whose name is that of another file, which is still there: in turns, each would take the other's targets for its
 * own former ones.
 */
async function refuseNamesakes(build: Database, folder: DataFolder, jobs: readonly Job[]): Promise<void> {
  const recorded = await build.rows<{ job: string; file: string }>('select job, file from meta.jobs');
  const fileOf = new Map(recorded.map(({ job, file }) => [job, file]));
  const real = (file: string) => realpath(file).catch(() => null);
  for (const { name, file } of jobs) {
    const other = file === '' ? undefined : fileOf.get(name);
    const there = other === undefined ? null : await real(other);
    if (other === undefined || there === null || there === (await real(file))) continue;
    // Where the whole project was copied, the other file belongs to the other data folder.
    const itsBuild = resolve(dirname(other), relative(dirname(resolve(file)), folder.build));
    if (itsBuild !== folder.build && (await real(itsBuild)) !== null) continue;
    throw new UsageError(
      `${file}: the data folder has a job ${name} already, of ${other}`,
      'Rename one of the two files, remove the other one, or name another folder with --data-dir.',
    );
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
    targets.set(job, chooseTargets(job, await resolveTargets(job, noSql, leaveOut)));
    await resolveIds(job, noSql, leaveOut);
  }
  return targets;
}
