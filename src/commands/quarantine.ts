import { tmpdir } from 'node:os';
import { UsageError } from '../errors.ts';
import { locateEntry } from '../status/locate-entry.ts';
import { type QuarantineFilter, readQuarantine, withSnapshot } from '../status/quarantine.ts';
import { retryQuarantine } from '../status/retry-quarantine.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { runOffline } from './offline.ts';
import { type AskArgs, askAgain } from './quarantine-ask.ts';
import { describeEntry, listEntries, listGroups, listText, retryText } from './quarantine-text.ts';
import type { Usage } from './usage.ts';

interface QuarantineArgs extends GlobalArgs, AskArgs {
  action: 'list' | 'show' | 'retry';
  /** Jobs; of `show`, one entry. */
  name: string[];
  table?: string;
  reason?: string;
  each: boolean;
  ask: boolean;
}

/** Arguments and options of `ledgerlake quarantine`. */
export const usage: Usage = {
  arguments: {
    '<action>': {
      describe: 'list: what did not fit; show: one entry with its raw text; retry: read the kept text again',
      choices: ['list', 'show', 'retry'],
    },
    '[name...]': 'Jobs (default: all); of show: the id or the key of an entry',
  },
  options: {
    '--table <name>': 'Only entries of this table',
    '--reason <text>': 'Only entries whose reason contains this',
    '--each': 'list: a line an entry',
    '--ask': 'retry: ask the API for the targets again, from their start',
    '--max-requests <n>': 'retry --ask: stop after so many requests; the next one continues',
    '--max-credits <n>': 'retry --ask: stop before more credits are spent',
    '--until <duration>': 'retry --ask: stop after this time: 90s, 1h30m, 2d',
  },
  examples: {
    'ledgerlake quarantine list': 'By job, table, column and reason, with an example of each',
    'ledgerlake quarantine list tokens --table token_accounts --each': 'Every entry of a job and table',
    'ledgerlake quarantine show <id>': 'The raw text of a record, and the request that brought it',
    'ledgerlake quarantine retry': 'After a change of the mapping: costs no request',
    'ledgerlake quarantine retry tokens --ask --max-requests 500': 'Ask the API once more',
  },
  notes:
    'list and show read the snapshot and end with 0. retry ends with 0 when all that was tried fits now, with 3 when something still does not, with 4 when a crawl was refused.',
};

export function execute(args: QuarantineArgs): Promise<number> {
  if (args.action === 'list') return list(args);
  if (args.action === 'show') return show(args);
  return args.ask ? askAgain(args, filterOf(args)) : retry(args);
}

function filterOf({ name, table, reason }: QuarantineArgs): QuarantineFilter {
  return { jobs: name, table, reason };
}

async function list(args: QuarantineArgs): Promise<number> {
  const { config, folder, print } = await openContext(args, { asks: false });
  const entries = await untilStopped((signal) =>
    withSnapshot(folder, { ...config.warehouse, tempDir: tmpdir(), signal }, (snapshot) =>
      readQuarantine(snapshot, filterOf(args)),
    ),
  );
  if (args.each) print(listText(entries.length, listEntries(entries)), { entries });
  else {
    const { groups, text } = listGroups(entries);
    print(listText(entries.length, text), { entries: entries.length, groups });
  }
  return 0;
}

async function show(args: QuarantineArgs): Promise<number> {
  const [named] = args.name;
  if (named === undefined || args.name.length > 1)
    throw new UsageError(
      'quarantine show takes one entry',
      'Name it by its id or key, as `ledgerlake quarantine list --each` lists them.',
    );
  const { config, folder, print } = await openContext(args, { asks: false });
  const options = { ...config.warehouse, tempDir: tmpdir() };
  const found = await untilStopped((signal) =>
    withSnapshot(folder, { ...options, signal }, async (snapshot) => {
      const entries = await readQuarantine(snapshot, { ...filterOf(args), jobs: [], named });
      const located = [];
      for (const entry of entries)
        located.push({
          ...entry,
          page_line: await locateEntry(folder, snapshot, entry, { ...options, signal }),
        });
      return located;
    }),
  );
  if (found.length === 0)
    throw new UsageError(
      `nothing in quarantine has the id or key ${named}`,
      'See what there is: ledgerlake quarantine list --each',
    );
  print(found.map(describeEntry).join('\n\n'), { entries: found });
  return 0;
}

function retry(args: QuarantineArgs): Promise<number> {
  return runOffline('retry', args, async (session, { print, folder }) => {
    const { report, published, exitCode } = await retryQuarantine(session, filterOf(args));
    print(retryText(report, folder), report);
    return { exitCode, published };
  });
}
