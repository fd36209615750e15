import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { type LeaveOut, sqlPlace } from '../jobs/target-checks.ts';
import { resolveIds, resolveTargets } from '../jobs/targets.ts';
import type { Database } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import type { CrawlState, PlannedStart } from './crawl-state.ts';
import { noteTargets, type ReadTargets } from './current-targets.ts';
import { orderStarts, planNamed, planStarts, reliedOnShortPage } from './plan-starts.ts';
import { readCrawlState } from './read-state.ts';
import type { RunContext } from './run-context.ts';
import { appendRunLog } from './run-log.ts';

/**
 * What one wave has to crawl, in order; notes in the build which targets its jobs have. Asks the API nothing. A job whose
 * targets cannot be read, because of what a row says or of a file that has changed since, is left out: the others go on.
 * @param areNamed whether each job is crawled although its unfinished round has nothing left
 */
export async function planWave(
  run: RunContext,
  wave: readonly Job[],
  areNamed: boolean,
): Promise<PlannedStart[]> {
  const { session, progress } = run;
  const state = await session.withBuild((build) => readCrawlState(build, session.folder));
  run.slots.learn(state.slots);
  const reader = openReader(run);
  const read: ReadTargets[] = [];
  const starts: PlannedStart[] = [];
  try {
    for (const job of wave) {
      try {
        const planned = await planJob(run, job, { state, areNamed, query: reader.query });
        read.push({ job, targets: planned.targets });
        // Not as arguments of one call: of a hundred thousand, Node refuses it.
        for (const start of planned.starts) starts.push(start);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        progress.onLeftOut(job.name, error);
      }
    }
  } finally {
    reader.close();
  }
  await session.withBuild((build) => noteTargets(build, read));
  return orderStarts(starts);
}

/** The crawls that relied on a short page which, as this run found, was not the end. */
export async function planExactly(run: RunContext, jobs: readonly Job[]): Promise<PlannedStart[]> {
  const { session } = run;
  const state = await session.withBuild((build) => readCrawlState(build, session.folder));
  const starts = await planWave(run, jobs, false);
  return starts.filter(({ task }) => reliedOnShortPage(task, state));
}

interface JobContext {
  state: CrawlState;
  areNamed: boolean;
  /** The rows of a job's SQL. */
  query(job: Job, sql: string): ReturnType<typeof runJobSql>;
}

/** What one job has to crawl, in any order, and all the targets it has. @throws UsageError where they cannot be read */
async function planJob(
  { session, progress }: RunContext,
  job: Job,
  { state, areNamed, query }: JobContext,
): Promise<{ starts: PlannedStart[] } & Pick<ReadTargets, 'targets'>> {
  const { run, log, folder } = session;
  const leaveOut: LeaveOut = (problems) => progress.onTargetsLeftOut(job.name, problems);
  const targets = await resolveTargets(job, (sql) => query(job, sql), leaveOut);
  const ids = await resolveIds(job, (sql) => query(job, sql), leaveOut);
  if (targets.length === 0)
    log.warn({ job: job.name }, 'no targets: its SQL returned no rows; check whether it needs `after:`');
  const { starts, begins } = areNamed
    ? planNamed(job, targets, ids, state, run)
    : { starts: planStarts(job, targets, ids, state, run), begins: false };
  if (begins) await appendRunLog(folder.runs, { run, begins: [job.name] });
  progress.setPlanned(job.name, countBefore(targets, starts));
  return { starts, targets };
}

/** The build, opened for the SQL of jobs by the first that has some. */
function openReader({ session }: RunContext): { query: JobContext['query']; close(): void } {
  let reader: Database | null = null;
  return {
    async query(job, sql) {
      session.closeBuild();
      reader ??= await openForJobSql(session.folder.build, session.databaseOptions);
      return runJobSql(reader, sqlPlace(job), sql);
    },
    close: () => reader?.close(),
  };
}

/** Targets that the round has already: a run that goes on shows where it stands. Pure. */
function countBefore(targets: readonly { name: string }[], starts: readonly PlannedStart[]): number {
  const begun = new Set(starts.map(({ task }) => task.target));
  return targets.filter(({ name }) => !begun.has(name)).length;
}
