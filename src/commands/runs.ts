import { UsageError } from '../errors.ts';
import { type RunSummary, readRuns } from '../run/read-runs.ts';
import { countOf, formatCount, formatSeconds } from '../words.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { cutText, layOutTable } from './text-table.ts';
import { readNumber, type Usage } from './usage.ts';
import { oneLine } from './visible-text.ts';

interface RunsArgs extends GlobalArgs {
  limit: number;
}

/** Options of `ledgerlake runs`. */
export const usage: Usage = {
  options: { '--limit <n>': { describe: 'How many, newest first', read: readNumber, default: 20 } },
  examples: {
    'ledgerlake runs': 'The last 20 runs',
    'ledgerlake runs --limit 1 --json': 'The last one, for a script',
  },
};

/** `ledgerlake runs`: reads only, takes no lock. */
export async function execute(args: RunsArgs): Promise<number> {
  if (!Number.isSafeInteger(args.limit) || args.limit < 1)
    throw new UsageError(`--limit takes a whole number from 1, not ${args.limit}`, 'For example: --limit 5');
  const context = await openContext(args, { asks: false });
  const runs = await readRuns(context.folder, args.limit, Date.now());
  context.print(renderRuns(runs, process.stdout.isTTY ? process.stdout.columns : undefined), runs);
  return 0;
}

const columns = [
  ...[{ name: 'run' }, { name: 'verb' }, { name: 'jobs' }],
  ...['took', 'exit', 'requests', 'credits'].map((name) => ({ name, right: true })),
];

/** Width that a job's name is cut to; several jobs are counted instead. */
const jobsWidth = 9;

/**
 * The runs for people: a table of 80 columns, with the problems of a run below it. Pure.
 * @param width of the terminal that notes are cut to
 */
export function renderRuns(runs: readonly RunSummary[], width?: number): string {
  const rows = runs.map((run) => [
    run.run,
    run.verb,
    nameJobs(run.jobs),
    run.seconds === null ? '' : formatSeconds(run.seconds),
    run.state === 'ended' ? `${run.exitCode}` : run.state,
    formatCount(run.requests),
    formatCount(run.credits),
  ]);
  const { heading, line } = layOutTable(columns, rows);
  const notes = (run: RunSummary) =>
    listNotes(run).map((note) => `  ${width === undefined ? note : cutText(note, width - 2)}`);
  return [...heading, ...runs.flatMap((run, n) => [line(rows[n]!), ...notes(run)])].join('\n');
}

function nameJobs(jobs: readonly string[]): string {
  const [only = ''] = jobs;
  return jobs.length > 1 ? countOf(jobs.length, 'job') : cutText(oneLine(only), jobsWidth);
}

function listNotes({ saved, found, stoppedBy }: RunSummary): string[] {
  const notes: string[] = [];
  if (saved > 0) notes.push(`${countOf(saved, 'request')} saved`);
  if (found !== undefined && found.quarantined > 0)
    notes.push(`${countOf(found.quarantined, 'record')} quarantined`);
  for (const refused of found?.refused ?? []) notes.push(`not published: ${oneLine(refused)}`);
  for (const { job, problem } of found?.leftOut ?? []) notes.push(`left out: ${job}: ${oneLine(problem)}`);
  if (stoppedBy !== null) notes.push(oneLine(stoppedBy));
  return notes;
}
