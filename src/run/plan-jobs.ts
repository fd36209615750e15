import type { Config } from '../config/config.ts';
import type { Problem } from '../config/yaml-file.ts';
import { usualPerSecond } from '../crawl/slot-ceiling.ts';
import type { DataFolder } from '../data-folder.ts';
import type { Job } from '../jobs/job.ts';
import { locateSql } from '../jobs/target-checks.ts';
import { chooseTargets, resolveIds, resolveTargets } from '../jobs/targets.ts';
import type { Task } from '../jobs/task.ts';
import { readLanding } from '../landing/reader.ts';
import { checkVersion } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import { readTableSpec } from '../warehouse/table-spec.ts';
import type { CrawlState, PlannedStart } from './crawl-state.ts';
import { planOrBeginRound, planStarts } from './plan-starts.ts';
import { groupByTask, readCrawlState } from './read-state.ts';
import { isInFullRefresh, namesOf } from './rounds.ts';
import { type Rates, readRates } from './run-client.ts';
import { listRefuted, readRunLog } from './run-log.ts';

/** The requests and credits that a run would need for one job. */
export interface JobPlan {
  job: string;
  /** Targets that need a request. */
  targets: number;
  tasks: number;
  /** Tasks that continue where they stopped. */
  open: number;
  /** Tasks that were never crawled to the end: their size is unknown, and counted as the fewest requests. */
  unknown: number;
  /** Tasks that only crawl what changed since the target was last crawled. */
  incremental: number;
  /** As many as the last crawl had pages; where that is unknown, the fewest. */
  requests: number;
  /** Of the requests, those that only find out whether a short page was the last of its list. */
  pastShort: number;
  /** Upper bound of the requests; null where nothing bounds them. */
  requestsMost: number | null;
  credits: number;
  /** Requests a second: of api.limits, else the rate that held in earlier runs; null when neither is known. */
  rps: number | null;
  rateFrom: 'config' | 'earlier runs' | null;
  /** Seconds at that rate, or null. */
  seconds: number | null;
  /** Bytes that the landing log would take, by the last crawl's records; 0 when unknown. */
  diskBytes: number;
  /** The job whose tables this job's SQL needs and which was never published; null: none. */
  waitsFor: string | null;
  /** Lines of its target file that are invalid: a run leaves them out. */
  targetsLeftOut: number;
  /** Jobs planned before it whose rows may give its SQL more targets than there are now. */
  growsWith: string[];
}

/**
 * Plans jobs from the snapshot, as a run would from the build; takes no lock.
 * @param hasSnapshot whether anything was published; without a snapshot only the job files are read
 * @param signal interrupts the SQL of a job
 */
export async function planJobs(
  jobs: readonly Job[],
  config: Config,
  folder: DataFolder,
  hasSnapshot: boolean,
  { mayBeginRound, fullRefresh }: { mayBeginRound: boolean; fullRefresh: boolean },
  signal?: AbortSignal,
): Promise<JobPlan[]> {
  const { memoryLimit, threads } = config.warehouse;
  const options = { memoryLimit, threads, tempDir: folder.temp, signal };
  const database = hasSnapshot
    ? await openForJobSql(folder.snapshot, options)
    : await openDatabase(':memory:', options);
  try {
    if (hasSnapshot) await checkVersion(database);
    const names = jobs.map(({ name }) => name);
    const continuesRefresh = fullRefresh && isInFullRefresh(await readRunLog(folder.runs), names);
    const asReset = fullRefresh && !continuesRefresh ? namesOf(jobs) : [];
    const state = hasSnapshot
      ? await readCrawlState(database, folder, asReset)
      : await readUnpublished(folder);
    const rates = await readRates(folder.rates);
    const context = { config, database, state, rates, mayBeginRound: mayBeginRound && !continuesRefresh };
    const plans: JobPlan[] = [];
    for (const job of jobs) {
      const needsTables = job.forEach?.kind === 'sql';
      const waitsFor = needsTables && !hasSnapshot ? (job.after[0] ?? 'the first run') : null;
      if (waitsFor !== null) plans.push({ ...emptyPlan(job, config, rates), requestsMost: null, waitsFor });
      else {
        const growsWith = needsTables ? job.after.filter((name) => mayAddRows(plans, name)) : [];
        const plan = await planJob(job, context);
        plans.push({ ...plan, growsWith, requestsMost: growsWith.length > 0 ? null : plan.requestsMost });
      }
    }
    return plans;
  } finally {
    database.close();
  }
}

interface PlanContext {
  config: Config;
  database: Database;
  state: CrawlState;
  rates: Rates;
  mayBeginRound: boolean;
}

async function planJob(job: Job, context: PlanContext): Promise<JobPlan> {
  const { config, database, state, rates, mayBeginRound } = context;
  const query = (sql: string) => runJobSql(database, locateSql(job), sql);
  let targetsLeftOut = 0;
  const leaveOut = (problems: readonly Problem[]) => {
    targetsLeftOut = problems.length;
  };
  const targets = chooseTargets(job, await resolveTargets(job, query, leaveOut));
  const ids = await resolveIds(job, query, leaveOut);
  const starts = mayBeginRound
    ? planOrBeginRound(job, targets, ids, state, 'plan').starts
    : planStarts(job, targets, ids, state, 'plan');
  return { ...sumStarts(job, config, starts, { rates, refuted: state.refuted }), targetsLeftOut };
}

/** Whether an earlier job of the plan may bring rows that the SQL of later jobs reads. */
function mayAddRows(plans: readonly JobPlan[], name: string): boolean {
  return plans.some(({ job, tasks, growsWith }) => job === name && (tasks > 0 || growsWith.length > 0));
}

async function readUnpublished(folder: DataFolder): Promise<CrawlState> {
  return {
    complete: new Map(),
    failed: new Map(),
    coverage: new Map(),
    fresh: new Map(),
    gaps: new Map(),
    landed: groupByTask(await readLanding(folder.landing)),
    slots: { newest: null, perSecond: usualPerSecond },
    refuted: listRefuted(await readRunLog(folder.runs)),
    runs: await readRunLog(folder.runs),
    now: Date.now(),
  };
}

function emptyPlan(job: Job, config: Config, rates: Rates): JobPlan {
  const { pool } = job.operation;
  const configured = config.limits[pool]?.rps;
  const rps = configured ?? rates[pool] ?? null;
  return {
    ...{ job: job.name, targets: 0, tasks: 0, open: 0, unknown: 0, incremental: 0 },
    ...{ requests: 0, pastShort: 0, requestsMost: 0, credits: 0, rps },
    rateFrom: configured !== undefined ? 'config' : rps === null ? null : 'earlier runs',
    ...{ seconds: null, diskBytes: 0, waitsFor: null, targetsLeftOut: 0, growsWith: [] },
  };
}

function sumStarts(
  job: Job,
  config: Config,
  starts: readonly PlannedStart[],
  { rates, refuted }: { rates: Rates; refuted: CrawlState['refuted'] },
): JobPlan {
  const plan = emptyPlan(job, config, rates);
  const { recordBytes } = readTableSpec(job.operation.table);
  const price = config.credits[job.operation.name] ?? job.operation.credits;
  let requestsMost = 0;
  for (const start of starts) {
    const { task, resume, expected } = start;
    plan.tasks += 1;
    if (task.incremental) plan.incremental += 1;
    if (resume !== null) plan.open += 1;
    if (expected === null) plan.unknown += 1;
    const requests = fewestRequests(job, start);
    plan.requests += requests;
    requestsMost += mostRequests(start, requests);
    if (checksShortPage(start)) plan.pastShort += 1;
    plan.diskBytes += (expected?.records ?? 0) * recordBytes;
  }
  plan.targets = new Set(starts.map(({ task }) => task.target)).size;
  plan.requestsMost = Number.isFinite(requestsMost) ? requestsMost : null;
  const { name } = job.operation;
  if (config.shortPageEnds.has(name) && !refuted.has(name)) {
    const saved = Math.floor(plan.pastShort * 0.95);
    plan.requests -= saved;
    plan.pastShort -= saved;
  }
  plan.credits = plan.requests * price;
  plan.seconds = plan.rps === null ? null : Math.round((1000 * plan.requests) / plan.rps) / 1000;
  return plan;
}

/** As many as the last crawl needed, or the fewest possible. */
function fewestRequests({ operation }: Job, { task, resume, expected }: PlannedStart): number {
  // A list ends with an empty page, which a range of it may begin with.
  const fewest = operation.paging === 'keyset' && task.range === null ? 2 : 1;
  const pages = expected === null ? fewest : expected.pages + (endsAtFullPage(task, expected) ? 1 : 0);
  return Math.max(1, pages - (resume?.pages.size ?? 0));
}

/** Whether a list ends with an empty page below a full one, which is requested twice. */
function endsAtFullPage(
  { operation, pageSize }: Task,
  { pages, records }: { pages: number; records: number },
): boolean {
  return operation.paging !== 'batch' && records > 0 && records === (pages - 1) * pageSize;
}

/** Whether the last request of a list only finds out whether the short page before was the last. */
function checksShortPage({ task, expected }: PlannedStart): boolean {
  const { operation, incremental, pageSize } = task;
  if (operation.paging !== 'keyset' || incremental) return false;
  return (
    expected === null || (expected.records > 0 && expected.pages > Math.ceil(expected.records / pageSize))
  );
}

/** Infinite for a first crawl, and for a feed, whose new records nothing bounds. */
function mostRequests({ task, expected, fullPages }: PlannedStart, requests: number): number {
  if (task.operation.paging === 'none') return requests;
  if (expected === null || task.operation.paging === 'feed') return Number.POSITIVE_INFINITY;
  return task.incremental ? Math.max(requests, fullPages ?? Number.POSITIVE_INFINITY) : requests;
}
