import { nameTagged, requireJob } from '../jobs/job-set.ts';
import {
  type CheckedJob,
  checkDropped,
  checkFreshness,
  checkHeld,
  checkLastRun,
  checkWaiting,
  type FreshnessFinding,
} from '../status/check-freshness.ts';
import { examineFolder } from '../status/examine-folder.ts';
import { readStatus } from '../status/read-status.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { readJobFiles } from './job-files.ts';
import { readDuration } from './run-options.ts';
import { acceptCommand } from './run-report.ts';
import { terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';
import { oneLine, wrapText } from './visible-text.ts';

interface CheckArgs extends GlobalArgs {
  job: string[];
  maxAge: string;
}

/** Arguments and options of `ledgerlake check`. */
export const usage: Usage = {
  arguments: { '[job...]': 'Jobs to look at (default: all)' },
  options: {
    '--max-age <duration>': {
      describe: 'How old the last complete crawl of a target may be: 90s, 1h30m, 2d',
      default: '26h',
    },
  },
  examples: {
    'ledgerlake check --max-age 26h': 'Once an hour, from monitoring',
    'ledgerlake check collections --json': 'One job, for a program',
  },
  notes:
    'Ends with 0, or with 5 and a line for each finding. Reads only, takes no lock, and works during a run.',
};

/** `ledgerlake check`: what is not complete, too old, refused, waiting, no longer requested, missing or damaged. */
export async function execute(args: CheckArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { folder, config } = context;
  const maxAgeMs = readDuration('--max-age', args.maxAge);
  const files = await readJobFiles(context.jobsDir);
  const findings = await untilStopped(async (signal) => {
    const status = await readStatus(folder, config, null, files, signal);
    const names = status.jobs.map(({ job }) => job);
    const named = nameTagged(args.job, files.jobs);
    for (const name of named) requireJob(name, names);
    const checked: CheckedJob[] = [];
    for (const name of named.length > 0 ? named : names)
      checked.push(await readStatus(folder, config, name, files, signal));
    const withFile = status.jobs.filter(({ has_file }) => has_file !== false).map(({ job }) => job);
    const heldJobs = named.length > 0 ? named : withFile;
    const missing = {
      kind: 'damaged' as const,
      job: '',
      target: '',
      message: `${folder.snapshot} is missing`,
    };
    return [
      ...(status.snapshotMissing ? [missing] : []),
      ...checkFreshness(checked, maxAgeMs, Date.now()),
      ...checkHeld(status.held, heldJobs, (held) => acceptCommand([held], folder)),
      ...checkWaiting(status.waiting, heldJobs),
      ...checkDropped(status.dropped, named.length > 0 ? named : null, (one) => acceptCommand([one], folder)),
      ...checkLastRun(status),
      ...(await findDamage(folder)),
    ];
  });
  const exitCode = findings.length > 0 ? 5 : 0;
  context.print(wrapText(renderFindings(findings), terminalWidth()), {
    exitCode,
    maxAgeSeconds: maxAgeMs / 1000,
    findings,
  });
  return exitCode;
}

/** Damage of the landing log, staging and archive; `doctor` reads the databases too. */
async function findDamage(folder: Parameters<typeof examineFolder>[0]): Promise<FreshnessFinding[]> {
  const { findings } = await examineFolder(folder, null);
  return findings.flatMap(({ exitCode, message, repair }) =>
    exitCode === 74
      ? { kind: 'damaged' as const, job: '', target: '', message: `${message} (${repair})` }
      : [],
  );
}

/** Targets of a job that are named for one kind of finding; further ones are counted. */
const maxShown = 20;

/** The findings as text. Pure. */
export function renderFindings(findings: readonly FreshnessFinding[]): string {
  if (findings.length === 0) return 'all is complete and fresh';
  const counts = new Map<string, number>();
  const lines = findings.flatMap(({ kind, job, target, message }) => {
    const key = `${kind} ${job}`;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    const subject = [job, target]
      .filter((part) => part !== '')
      .map(oneLine)
      .join(' ');
    return count > maxShown ? [] : `${kind}: ${subject === '' ? '' : `${subject}: `}${oneLine(message)}`;
  });
  for (const [key, count] of counts)
    if (count > maxShown) lines.push(`${key}: ${count - maxShown} more; --json has all`);
  return lines.join('\n');
}
