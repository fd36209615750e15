import { tmpdir } from 'node:os';
import { UsageError } from '../errors.ts';
import { readJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import { checkLake, exportSnapshot } from '../run/export-stage.ts';
import { runPipeline } from '../run/run-pipeline.ts';
import { type QuarantineFilter, readQuarantine, withSnapshot } from '../status/quarantine.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { openEndpoints, originsOf, requireUrls } from './endpoints.ts';
import { readBudget } from './run-options.ts';
import { renderRunReport } from './run-report.ts';

/** What `quarantine retry --ask` may spend. */
export interface AskArgs {
  maxRequests?: string;
  maxCredits?: string;
  until?: string;
}

/**
 * Crawls the targets again whose records are in quarantine, from their start, and nothing else.
 * @returns the run's exit code; 3 also when something still does not fit
 */
export async function askAgain(args: GlobalArgs & AskArgs, filter: QuarantineFilter): Promise<number> {
  const context = await openContext(args);
  const { config, folder, log, showProgress } = context;
  const limits = readBudget(args, Date.now());
  const readEntries = () =>
    withSnapshot(folder, { ...config.warehouse, tempDir: tmpdir() }, (snapshot) =>
      readQuarantine(snapshot, filter),
    );
  const targets = (await readEntries()).flatMap(({ job, target }) => (job === null ? [] : { job, target }));
  const allJobs = await readJobs(context.jobsDir);
  const jobs = allJobs.flatMap((job) => {
    const onlyTargets = targets.flatMap((one) => (one.job === job.name ? (one.target ?? '') : []));
    return onlyTargets.length === 0 ? [] : { ...job, onlyTargets };
  });
  const orphan = targets.find(({ job }) => !allJobs.some(({ name }) => name === job));
  if (orphan !== undefined && orphan.job !== '_confirm')
    throw new UsageError(
      `the job ${orphan.job}, whose records are in quarantine, has no file in ${context.jobsDir}`,
      `Name the others: ledgerlake quarantine retry ${jobs.map(({ name }) => name).join(' ')} --ask`,
    );
  if (jobs.length === 0) {
    context.print('nothing of that is in quarantine', { tried: 0 });
    return 0;
  }
  await checkLake(context);
  requireUrls(config, jobs);
  const endpoints = await openEndpoints(context);
  try {
    const report = await runPipeline({
      ...{
        verb: 'run',
        config,
        folder,
        log,
        jobs,
        jobsDir: context.jobsDir,
        api: endpoints,
        limits,
        showProgress,
      },
      ...{ origins: originsOf(endpoints), namedByUser: false, fullRefresh: true, accept: [] },
      afterSnapshot: async ({ stop }) => {
        await exportSnapshot(context, { tables: null, signal: stop.signal });
      },
    });
    const left = (await readEntries()).length;
    const exitCode = report.exitCode === 0 && left > 0 ? 3 : report.exitCode;
    const text = renderRunReport(report, context.folder, await exists(folder.snapshot));
    context.print(`${text}\n  in quarantine now: ${left}`, { ...report, exitCode, left });
    return exitCode;
  } finally {
    await endpoints.close();
  }
}
