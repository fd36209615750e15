import { UsageError } from '../errors.ts';
import { readJobs } from '../jobs/job-file.ts';
import { exists } from '../landing/segment-files.ts';
import { checkLake, exportSnapshot } from '../pipeline/export-stage.ts';
import { type RunReport, runPipeline } from '../pipeline/run-pipeline.ts';
import { quoteForShell } from '../shell-words.ts';
import { acceptOptions, readAccepted } from './accept-options.ts';
import type { CommandModule } from './command-list.ts';
import { type Context, openContext } from './context.ts';
import { openEndpoints, originsOf, requireUrls } from './endpoints.ts';
import { addExamples } from './examples.ts';
import { refusalLines } from './refusal-text.ts';
import { budgetOptions, type RunArgs, readBudget } from './run-options.ts';

/** `ledgerlake run [job…]`: crawl, load, publish, export. */
export const runCommand: CommandModule = {
  describeOptions: (command) => {
    return addExamples(acceptOptions(budgetOptions(command)), {
      'ledgerlake run': 'All jobs, once',
      'ledgerlake run collections --max-credits 5000': 'One job, within a budget; run again to go on',
      'ledgerlake run --until 6h --json': 'Nightly, from a scheduler',
    });
  },
  execute: (args: RunArgs) => runJobs('run', args),
};

/** `ledgerlake crawl [job…]`: pages into the landing log, nothing typed or published. */
export const crawlCommand: CommandModule = {
  describeOptions: (command) =>
    addExamples(budgetOptions(command), { 'ledgerlake crawl': 'Receive now; `load` and `publish` later' }),
  execute: (args: RunArgs) => runJobs('crawl', args),
};

/** Runs the jobs and prints what became of them. @returns the exit code */
async function runJobs(verb: 'run' | 'crawl', args: RunArgs): Promise<number> {
  const context = await openContext(args);
  const limits = readBudget(args, Date.now());
  const jobs = await readJobs(context.jobsDir, args.job);
  if (args.fullRefresh && args.job.length === 0)
    throw new UsageError(
      '--full-refresh pays for everything again, so it takes the jobs by name',
      `For example: ledgerlake ${verb} ${jobs[0]?.name ?? '<job>'} --full-refresh`,
    );
  if (verb === 'run') await checkLake(context);
  const accept = await readAccepted(args, jobs);
  requireUrls(context.config, jobs);
  const place = await openEndpoints(context);
  try {
    const report = await runPipeline({
      verb,
      config: context.config,
      folder: context.folder,
      log: context.log,
      jobs,
      jobsDir: context.jobsDir,
      place,
      origins: originsOf(place),
      areNamed: args.job.length > 0,
      fullRefresh: args.fullRefresh,
      limits,
      accept,
      showProgress: context.showProgress,
      afterSnapshot: async ({ stop }) => {
        await exportSnapshot(context, null, stop.signal);
      },
    });
    const { stopped } = report;
    const document = { ...report, stopped: stopped && { reason: stopped.message, hint: stopped.hint } };
    const hasSnapshot = await exists(context.folder.snapshot);
    context.print(renderReport(report, context, hasSnapshot), document);
    if (report.stopped !== null)
      process.stderr.write(
        `ledgerlake: stopped early: ${report.stopped.message}\n  ${report.stopped.hint}\n`,
      );
    return report.exitCode;
  } finally {
    await place.close();
  }
}

/** What a count of rows is called where its name says too little. */
const countNames: Readonly<Record<string, string>> = { late: 'came late' };

/** What a person reads after a run. Pure. @param hasSnapshot whether there are tables to look at */
export function renderReport(
  report: RunReport,
  { folder }: Pick<Context, 'folder'>,
  hasSnapshot: boolean,
): string {
  const saved = report.saved > 0 ? `, ${report.saved} requests saved` : '';
  const lines = [`run ${report.run}: ${report.requests} requests, ${report.credits} credits${saved}`];
  for (const [job, { done, tasks, failed, pages, records, leftOut, targetsLeftOut }] of Object.entries(
    report.jobs,
  )) {
    if (leftOut !== null) {
      lines.push(`  ${job}: left out: ${leftOut}`);
      continue;
    }
    if (tasks === 0) {
      lines.push(
        `  ${job}: nothing to ask for now: it has no targets, or all are complete in its round; named (run ${job}) it begins a new one`,
      );
      continue;
    }
    const failures = failed > 0 ? `, ${failed} failed` : '';
    lines.push(`  ${job}: ${done}/${tasks} tasks${failures}, ${pages} pages, ${records} records`);
    for (const line of targetsLeftOut) lines.push(`    target left out: ${line}`);
  }
  for (const [table, counts] of Object.entries(report.published.tables)) {
    if (counts.seen + counts.gone === 0) continue;
    const parts = Object.entries(counts).flatMap(([name, n]) =>
      n > 0 && name !== 'seen' ? `${n} ${countNames[name] ?? name}` : [],
    );
    lines.push(`  ${table}: ${counts.seen} rows seen: ${parts.join(', ')}`);
  }
  for (const { job, records, reason } of report.published.quarantined)
    lines.push(`  ${job}: ${records} records with something quarantined, mostly because: ${reason}`);
  lines.push(...refusalLines(report.published.refused, folder));
  if (hasSnapshot)
    lines.push(`  tables: ledgerlake sql --data-dir ${quoteForShell(folder.root)} "show tables"`);
  return lines.join('\n');
}
