import { rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { refuseOwnPath } from '../data-folder.ts';
import { DiskError, UsageError } from '../errors.ts';
import { syncDirectory, writeSynced } from '../landing/segment-files.ts';
import { findRun, readReport, readReportedRuns } from '../report/read-report.ts';
import { renderRunPage } from '../report/run-page.ts';
import { renderRunsPage } from '../report/runs-page.ts';
import { untilStopped } from '../stop-signals.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';
import { readJobFiles } from './job-files.ts';
import { writeStdout } from './stdio.ts';
import { readNumber, readPath, type Usage } from './usage.ts';

interface ReportArgs extends GlobalArgs {
  run?: string;
  last?: number;
  output: string;
}

/** Arguments of `ledgerlake report`. */
export const usage: Usage = {
  arguments: { '[run]': 'The run, or the beginning of its name (default: the last run)' },
  options: {
    '--last <n>': { describe: 'Compare this many runs instead', read: readNumber },
    '-o, --output <path>': {
      describe: 'Write to this file; - is stdout',
      read: readPath,
      default: 'report.html',
    },
  },
  examples: {
    'ledgerlake report': 'The last run and what the tables hold, as report.html',
    'ledgerlake report --last 30 --output runs.html': 'The last 30 runs, compared',
  },
  notes: 'One HTML file that loads nothing: open it, attach it, keep it. Reads only, takes no lock.',
};

/** `ledgerlake report [run]`: one HTML file. */
export async function execute(args: ReportArgs): Promise<number> {
  if (args.last !== undefined && args.run !== undefined)
    throw new UsageError('--last compares runs, so it takes no run', 'Leave out one of the two.');
  if (args.last !== undefined && (!Number.isSafeInteger(args.last) || args.last < 1))
    throw new UsageError(`--last takes a whole number from 1, not ${args.last}`, 'For example: --last 30');
  const context = await openContext(args, { asks: false });
  const file = args.output === '-' ? null : await refuseOwnPath(args.output, '--output', context.folder);
  const { runs, page } = await makePage(context, args);
  if (file === null) {
    await writeStdout([page]);
    return 0;
  }
  await replaceFile(file, page);
  const document = { file: args.output, bytes: Buffer.byteLength(page), runs };
  context.print(`${args.output}: ${Math.ceil(document.bytes / 1000)} kB`, document);
  return 0;
}

async function makePage(context: Context, args: ReportArgs): Promise<{ runs: string[]; page: string }> {
  const { folder, config, jobsDir } = context;
  const all = await readReportedRuns(folder, args.last ?? Number.MAX_SAFE_INTEGER);
  if (args.last !== undefined) return { runs: all.map(({ run }) => run), page: renderRunsPage(all) };
  const run = findRun(all, args.run ?? null);
  const files = await readJobFiles(jobsDir);
  const report = await untilStopped((signal) => readReport(folder, config, files, run, signal));
  return { runs: [run.run], page: renderRunPage(report) };
}

/** Readers see the former page or the new one, never a part. @throws DiskError */
async function replaceFile(file: string, text: string): Promise<void> {
  try {
    await writeSynced(`${file}.tmp`, text);
    await rename(`${file}.tmp`, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    throw new DiskError(
      `cannot write ${file} (${(error as NodeJS.ErrnoException).code})`,
      'Name another file with --output.',
      { cause: error },
    );
  }
}
