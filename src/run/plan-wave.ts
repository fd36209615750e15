import { UsageError } from '../errors.ts';
import { canonicalJson, type Job } from '../jobs/job.ts';
import { type LeaveOut, locateSql } from '../jobs/target-checks.ts';
import { chooseTargets, resolveIds, resolveTargets } from '../jobs/targets.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { Operation } from '../operations/operation.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import type { CrawlState, PlannedStart } from './crawl-state.ts';
import { type ReadTargets, recordTargets } from './current-targets.ts';
import { logTargets } from './logged-targets.ts';
import { orderStarts, planOrBeginRound, planStarts, reliedOnShortPage } from './plan-starts.ts';
import { readCrawlState } from './read-state.ts';
import type { RunContext } from './run-context.ts';
import { appendRunLog } from './run-log.ts';
import type { Session } from './session.ts';

/**
 * Plans the crawls of one wave, in order, and records in the build which targets its jobs have. Sends no request. A job
 * whose targets cannot be read (a bad row, or a file that has changed since) is left out, and the others continue.
 * @param mayBeginRound whether a job begins a new round where its unfinished one has nothing left
 */
export async function planWave(
  run: RunContext,
  wave: readonly Job[],
  mayBeginRound: boolean,
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
        const planned = await planJob(run, job, { state, mayBeginRound, query: reader.query });
        read.push({ job, targets: planned.targets });
        // Node refuses a hundred thousand arguments of one `push`.
        for (const start of planned.starts) starts.push(start);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        progress.onLeftOut(job.name, error);
      }
    }
  } finally {
    reader.close();
  }
  await session.withBuild(async (build) => {
    await recordTargets(build, read);
    await logTargets(build, session.folder.runs, session.run);
  });
  return orderStarts(starts);
}

/** Plans again the crawls that relied on a short page which this run found not to be the end. */
export async function planExactly(run: RunContext, jobs: readonly Job[]): Promise<PlannedStart[]> {
  const { session } = run;
  const state = await session.withBuild((build) => readCrawlState(build, session.folder));
  const starts = await planWave(run, jobs, false);
  return starts.filter(({ task }) => reliedOnShortPage(task, state));
}

interface JobContext {
  state: CrawlState;
  mayBeginRound: boolean;
  /** The rows of a job's SQL. */
  query(job: Job, sql: string): ReturnType<typeof runJobSql>;
}

/** Plans one job's crawls, in any order; also returns all its targets. @throws UsageError where they cannot be read */
async function planJob(
  { session, progress }: RunContext,
  job: Job,
  { state, mayBeginRound, query }: JobContext,
): Promise<{ starts: PlannedStart[] } & Pick<ReadTargets, 'targets'>> {
  const { run, log, folder } = session;
  const leaveOut: LeaveOut = (problems) => progress.onTargetsLeftOut(job.name, problems);
  const targets = await resolveTargets(job, (sql) => query(job, sql), leaveOut);
  const ids = await resolveIds(job, (sql) => query(job, sql), leaveOut);
  if (targets.length === 0)
    log.warn({ job: job.name }, 'no targets: its SQL returned no rows; check whether it needs `after:`');
  const chosen = chooseTargets(job, targets);
  const { starts, begins } = mayBeginRound
    ? planOrBeginRound(job, chosen, ids, state, run)
    : { starts: planStarts(job, chosen, ids, state, run), begins: false };
  if (begins && job.onlyTargets === undefined) await appendRunLog(folder.runs, { run, begins: [job.name] });
  progress.setPlanned(job.name, countComplete(chosen, starts));
  return { starts, targets };
}

/** Runs the SQL of jobs in the build, which the first job that has some opens. */
function openReader({ session }: RunContext): { query: JobContext['query']; close(): void } {
  let reader: Database | null = null;
  return {
    async query(job, sql) {
      session.closeBuild();
      reader ??= await openForJobSql(session.folder.build, session.databaseOptions);
      return runJobSql(reader, locateSql(job), sql);
    },
    close: () => reader?.close(),
  };
}

/** How many targets earlier runs of the round have completed, for the progress of a run that continues it. Pure. */
function countComplete(targets: readonly { name: string }[], starts: readonly PlannedStart[]): number {
  const planned = new Set(starts.map(({ task }) => task.target));
  return targets.filter(({ name }) => !planned.has(name)).length;
}

/**
 * Plans the built-in job `_confirm`: look-ups of the rows of `meta.absent` that were not looked up in the last hours. It
 * has one target for each look-up operation and set of display options, which are those of the list that missed the row:
 * without them the answer leaves out what the list showed. A list of ids that an earlier run has frozen continues first.
 */
export function planConfirm({ folder, run, withBuild }: Session): Promise<PlannedStart[]> {
  return withBuild(async (build) => {
    await build.run(readSql('publish/macros.sql'));
    const due = await build.rows<{ lookup: string; options: string | null; ids: string }>(
      `select lookup, options, to_json(list(distinct key order by key))::varchar as ids
      from (${readSql('publish/due.sql')}) group by all order by all`,
      { run, now: Date.now() },
    );
    if (due.length === 0) return [];
    const state = await readCrawlState(build, folder);
    return due.flatMap(({ lookup, options, ids }) => {
      const operation = findOperation(lookup) as Operation;
      const display = options === null ? {} : { options: JSON.parse(options) as unknown };
      const name = options === null ? operation.table : canonicalJson({ ...display, table: operation.table });
      return planStarts(
        confirmJob(operation, display),
        [{ name, params: {} }],
        JSON.parse(ids) as string[],
        state,
        run,
      );
    });
  });
}

function confirmJob(operation: Operation, params: Job['params']): Job {
  return {
    name: '_confirm',
    file: '',
    describe: 'Looks up rows that left the lists',
    operation,
    params,
    forEach: null,
    ids: null,
    mode: 'full',
    fullEveryMs: null,
    after: [],
    since: null,
    overlapMs: null,
    pageSize: operation.limit ?? 1,
    partitions: 1,
    tags: [],
  };
}
