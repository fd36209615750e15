import { pino } from 'pino';
import { reportingAfter } from './commands/after-run.ts';
import { type Context, type Listener, openContext } from './commands/context.ts';
import { describePlan, planNamedJobs } from './commands/plan.ts';
import { describeRun, runNamedJobs } from './commands/run-jobs.ts';
import { refuseFirstRun } from './commands/sql.ts';
import { rowValues } from './commands/value-text.ts';
import { asDiskError } from './errors.ts';
import { withPrivateFiles } from './file-modes.ts';
import type {
  JobsOptions,
  PlanResult,
  ProjectOptions,
  RunOptions,
  RunResult,
  Snapshot,
  Value,
} from './library-types.ts';
import { stopOnAbort } from './stop-signals.ts';
import { openQuerySession } from './warehouse/query.ts';

export { DiskError, KeyRefused, LedgerlakeError, StoppedEarly, UsageError } from './errors.ts';
export type * from './library-types.ts';

/**
 * Runs one night, as `ledgerlake run`. A run that stops early, or that leaves something out, resolves with an `exitCode`
 * and `stopped`. After an abort, requests in flight have seven seconds to be answered.
 * @throws UsageError, DiskError, KeyRefused; StoppedEarly where another run is at work
 */
export async function run(options: RunOptions = {}): Promise<RunResult> {
  return withPrivateFiles(() => withOwnErrors(() => runOnce(options)));
}

async function runOnce(options: RunOptions): Promise<RunResult> {
  const { maxRequests, maxCredits, until, accept = [], metricsFile } = options;
  const args = {
    ...readArgs(options),
    ...(maxRequests === undefined ? {} : { maxRequests: String(maxRequests) }),
    ...(maxCredits === undefined ? {} : { maxCredits: String(maxCredits) }),
    ...(until === undefined ? {} : { until }),
    accept: [...accept],
    ...{ dryRun: false, yes: true, sample: options.sample === true },
  };
  const context = await openContext(args, { listener: listen(options) });
  let result: RunResult | undefined;
  await reportingAfter(context, { verb: 'run', metricsFile }, async () => {
    const stopOn = (drainMs: number) => stopOnAbort(options.signal, drainMs);
    result = describeRun(await runNamedJobs(context, { verb: 'run', args, stopOn }));
    return result.exitCode;
  });
  return result!;
}

/**
 * Estimates the requests and credits of the next run, as `ledgerlake plan`. Sends no request and writes nothing.
 * @throws UsageError; StoppedEarly at an abort
 */
export async function plan(options: JobsOptions = {}): Promise<PlanResult> {
  return withOwnErrors(async () => {
    const context = await openReader(options);
    const stop = stopOnAbort(options.signal, 0);
    try {
      const planned = await planNamedJobs(context, readArgs(options), stop.signal);
      return describePlan(planned.plan, planned.month);
    } finally {
      stop.release();
    }
  });
}

/**
 * Opens the tables for reading; the caller closes them. An abort ends the running query and refuses later ones.
 * @throws UsageError where no run has finished yet
 */
export async function openSnapshot(options: ProjectOptions = {}): Promise<Snapshot> {
  return withOwnErrors(async () => {
    const { config, folder } = await openReader(options);
    await refuseFirstRun(folder);
    const stop = stopOnAbort(options.signal, 0);
    const { memoryLimit, threads } = config.warehouse;
    const session = await openQuerySession(folder.snapshot, { memoryLimit, threads, signal: stop.signal });
    const read = async (sql: string): Promise<Record<string, Value>[]> => {
      stop.stopping.throwIfAborted();
      try {
        return await rowValues(await session.run(sql));
      } catch (error) {
        stop.stopping.throwIfAborted();
        throw error;
      }
    };
    // One after another, because they share a connection.
    let last: Promise<unknown> = Promise.resolve();
    return {
      query(sql) {
        const rows = last.then(() => withOwnErrors(() => read(sql)));
        last = rows.catch(() => undefined);
        return rows;
      },
      close() {
        stop.release();
        session.close();
      },
    };
  });
}

function openReader(options: JobsOptions): Promise<Context> {
  return openContext(readArgs(options), { asks: false, listener: listen(options) });
}

/** The options as the command line would have parsed them. */
function readArgs({ config, environment, dataDir, jobsDir = 'jobs', jobs = [], fullRefresh }: JobsOptions) {
  return {
    ...(config === undefined ? {} : { config }),
    ...(environment === undefined ? {} : { env: environment }),
    ...(dataDir === undefined ? {} : { dataDir }),
    ...{ jobsDir, job: [...jobs], fullRefresh: fullRefresh === true },
    ...{ json: true, logLevel: 'info', progress: false },
  };
}

/** Logs to the caller's function, nothing to stdout or stderr. */
function listen({ log: take }: ProjectOptions): Listener {
  const log = pino(
    {
      level: take === undefined ? 'silent' : 'info',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    { write: (line: string) => take?.(line.trimEnd()) },
  );
  return { log, tell: (line) => log.warn(line) };
}

async function withOwnErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asDiskError(error);
  }
}
