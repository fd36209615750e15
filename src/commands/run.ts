import type { Argv } from 'yargs';
import { runJobs } from './run-jobs.ts';
import { budgetOptions, type RunArgs } from './run-options.ts';

/** Options of `ledgerlake run`. */
export function describeOptions(command: Argv): Argv {
  return budgetOptions(command)
    .example('$0 run', 'All jobs, once')
    .example('$0 run collections --max-credits 5000', 'One job, within a budget; run again to go on')
    .example('$0 run --until 6h --json', 'Nightly, from a scheduler');
}

/** `ledgerlake run [job…]`: crawl, load, publish, export. */
export function execute(args: RunArgs): Promise<number> {
  return runJobs('run', args);
}
