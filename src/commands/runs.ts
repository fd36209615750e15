import type { Command } from 'commander';
import { UsageError } from '../errors.ts';
import { type RunSummary, readRuns } from '../pipeline/read-runs.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { addExamples } from './examples.ts';
import { readNumber } from './option-values.ts';
import { formatTable } from './text-table.ts';
import { oneLine } from './visible-text.ts';

interface RunsArgs extends GlobalArgs {
  limit: number;
}

/** Options of `ledgerlake runs`. */
export function describeOptions(command: Command): Command {
  command.option('--limit <n>', 'How many, newest first', readNumber, 20);
  return addExamples(command, {
    'ledgerlake runs': 'The last 20 runs',
    'ledgerlake runs --limit 1 --json': 'The last one, for a script',
  });
}

/** `ledgerlake runs`: reads only, takes no lock. */
export async function execute(args: RunsArgs): Promise<number> {
  if (!Number.isSafeInteger(args.limit) || args.limit < 1)
    throw new UsageError(`--limit takes a whole number from 1, not ${args.limit}`, 'For example: --limit 5');
  const context = await openContext(args, { asks: false });
  const runs = await readRuns(context.folder, args.limit, Date.now());
  context.print(renderRuns(runs), runs);
  return 0;
}

const columns = [
  ...[{ name: 'run' }, { name: 'verb' }, { name: 'jobs' }, { name: 'started' }],
  ...[
    { name: 'seconds', right: true },
    { name: 'exit', right: true },
  ],
  ...['requests', 'credits', 'saved', 'quarantined'].map((name) => ({ name, right: true })),
  ...[{ name: 'refused' }, { name: 'stopped by' }],
];

/** What a person reads. Pure. */
export function renderRuns(runs: readonly RunSummary[]): string {
  const rows = runs.map((run) => [
    run.run,
    run.verb,
    run.jobs.join(' '),
    run.startedAt.slice(0, 19).replace('T', ' '),
    run.seconds === null ? '' : run.seconds.toFixed(1),
    run.state === 'ended' ? `${run.exitCode}` : run.state,
    `${run.requests}`,
    `${run.credits}`,
    `${run.saved}`,
    run.found === undefined ? '' : `${run.found.quarantined}`,
    (run.found?.refused ?? []).map((line) => oneLine(line).slice(0, 100)).join('; '),
    run.stoppedBy ?? '',
  ]);
  return formatTable(columns, rows);
}
