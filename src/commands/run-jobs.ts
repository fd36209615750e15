import { UsageError } from '../errors.ts';
import { readNamedJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import { checkLake, exportSnapshot } from '../run/export-stage.ts';
import type { PipelineOptions } from '../run/run-context.ts';
import type { RunReport } from '../run/run-outcome.ts';
import { runPipeline } from '../run/run-pipeline.ts';
import { reportingAfter } from './after-run.ts';
import { confirmSpending } from './confirm-spending.ts';
import { type Context, openContext } from './context.ts';
import { openEndpoints, originsOf, requireUrls } from './endpoints.ts';
import { asCalled } from './report-failure.ts';
import { acceptOption, budgetOptions, jobsToRun, type RunArgs, readBudget } from './run-options.ts';
import { renderRunReport } from './run-report.ts';
import { terminalWidth } from './text-table.ts';
import type { CommandModule } from './usage.ts';
import { wrapText } from './visible-text.ts';

/** `ledgerlake run [job…]`: crawl, load, publish, export. */
export const runCommand: CommandModule = {
  usage: {
    arguments: jobsToRun,
    options: { ...budgetOptions, ...acceptOption },
    examples: {
      'ledgerlake run': 'All jobs, once',
      'ledgerlake run collections --max-credits 5000': 'One job, within a budget; run again to continue',
      'ledgerlake run _refresh': 'Look up the assets that no job follows any more',
      'ledgerlake run --until 6h --json': 'Nightly, from a scheduler',
    },
  },
  execute: (args: RunArgs) => runJobs('run', args),
};

/** `ledgerlake crawl [job…]`: pages into the landing log, nothing typed or published. */
export const crawlCommand: CommandModule = {
  usage: {
    arguments: jobsToRun,
    options: budgetOptions,
    examples: { 'ledgerlake crawl': 'Receive now; `load` and `publish` later' },
  },
  execute: (args: RunArgs) => runJobs('crawl', args),
};

/** Runs the jobs and prints their report. @returns the exit code */
async function runJobs(verb: 'run' | 'crawl', args: RunArgs): Promise<number> {
  if (args.dryRun) return (await import('./plan.ts')).execute(args);
  const context = await openContext(args);
  const { metricsFile } = args;
  return reportingAfter(context, { verb, metricsFile }, () => runIn(context, verb, args));
}

async function runIn(context: Context, verb: 'run' | 'crawl', args: RunArgs): Promise<number> {
  const report = await runNamedJobs(context, { verb, args, confirm: confirmSpending });
  const hasSnapshot = await exists(context.folder.snapshot);
  const text = renderRunReport(report, context.folder, hasSnapshot);
  context.print(wrapText(text, terminalWidth()), describeRun(report));
  if (report.stopped !== null)
    process.stderr.write(
      `ledgerlake: stopped early: ${report.stopped.message}\n  ${asCalled(report.stopped.hint)}\n`,
    );
  return report.exitCode;
}

/** The report as `--json` has it. Pure. */
export function describeRun(report: RunReport) {
  const { stopped } = report;
  return { ...report, stopped: stopped && { reason: stopped.message, hint: stopped.hint } };
}

interface NamedJobs {
  verb: 'run' | 'crawl';
  args: RunArgs;
  /** Asks on the terminal before an unusually expensive run; absent where nobody can be asked. */
  confirm?: typeof confirmSpending;
  /** Stops it early. Default: signals to the process. */
  stopOn?: PipelineOptions['stopOn'];
}

/** Runs the jobs that are named, or all; prints nothing. @throws as runPipeline; UsageError */
export async function runNamedJobs(
  context: Context,
  { verb, args, confirm, stopOn }: NamedJobs,
): Promise<RunReport> {
  const limits = readBudget(args, Date.now());
  const jobs = await readNamedJobs(context.jobsDir, args.job);
  if (args.fullRefresh && args.job.length === 0)
    throw new UsageError(
      '--full-refresh pays for everything again, so it takes the jobs by name',
      `For example: ledgerlake ${verb} ${jobs[0]?.name ?? '<job>'} --full-refresh`,
    );
  if (verb === 'run') await checkLake(context);
  requireUrls(context.config, jobs);
  await confirm?.(context, jobs, { ...args, ...limits });
  const endpoints = await openEndpoints(context);
  try {
    return await runPipeline({
      verb,
      config: context.config,
      folder: context.folder,
      log: context.log,
      jobs,
      jobsDir: context.jobsDir,
      api: endpoints,
      origins: originsOf(endpoints),
      namedByUser: args.job.length > 0,
      fullRefresh: args.fullRefresh,
      limits,
      accept: args.accept ?? [],
      showProgress: context.showProgress,
      stopOn,
      afterSnapshot: async ({ stop }) => {
        await exportSnapshot(context, { tables: null, signal: stop.signal });
      },
    });
  } finally {
    await endpoints.close();
  }
}
