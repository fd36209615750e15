import type { Argv } from 'yargs';
import { runJobs } from './run-jobs.ts';
import { budgetOptions, type RunArgs } from './run-options.ts';

/** Options of `ledgerlake crawl`. */
export function describeOptions(command: Argv): Argv {
  return budgetOptions(command).example('$0 crawl', 'Receive now; `load` and `publish` later');
}

/** `ledgerlake crawl [job…]`: pages into the landing log, typed as they come, nothing published. */
export function execute(args: RunArgs): Promise<number> {
  return runJobs('crawl', args);
}
