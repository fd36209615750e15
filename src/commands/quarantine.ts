import { tmpdir } from 'node:os';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { type LocatedPage, locateEntry } from '../status/locate-entry.ts';
import {
  groupQuarantine,
  type QuarantineEntry,
  type QuarantineFilter,
  type QuarantineGroup,
  readQuarantine,
  withSnapshot,
} from '../status/quarantine.ts';
import { type RetryReport, retryQuarantine } from '../status/retry-quarantine.ts';
import { untilStopped } from '../stop-signals.ts';
import { type GlobalArgs, openContext } from './context.ts';
import { runOffline } from './offline.ts';
import { type AskArgs, askAgain } from './quarantine-ask.ts';
import { auditLines, refusalLines } from './run-report.ts';
import { formatTable } from './text-table.ts';
import type { Usage } from './usage.ts';
import { oneLine } from './visible-text.ts';

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
    '[name...]': 'Jobs (default: all); of show: the id of an entry, or its beginning, or the key',
  },
  options: {
    '--table <name>': 'Only entries of this table',
    '--reason <text>': 'Only entries whose reason contains this',
    '--each': 'list: a line an entry',
    '--ask': 'retry: crawl the targets again, from their start',
    '--max-requests <n>': 'retry --ask: stop after this many requests; the next one continues',
    '--max-credits <n>': 'retry --ask: stop before more credits are spent',
    '--until <duration>': 'retry --ask: stop after this time: 90s, 1h30m, 2d',
  },
  examples: {
    'ledgerlake quarantine list': 'By job, table, column and reason, with an example of each',
    'ledgerlake quarantine list tokens --table token_accounts --each': 'Every entry of a job and table',
    'ledgerlake quarantine show <id>': 'The raw text of a record, and the request that brought it',
    'ledgerlake quarantine retry': 'After a change of the mapping; sends no request',
    'ledgerlake quarantine retry tokens --ask --max-requests 500': 'Request the records again',
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
      const entries = chooseNamed(
        await readQuarantine(snapshot, { ...filterOf(args), jobs: [], named }),
        named,
      );
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

/**
 * The entries with this id or key, else the one whose id begins with it. Pure.
 * @throws UsageError where several ids begin so
 */
export function chooseNamed<T extends Pick<QuarantineEntry, 'id' | 'key'>>(
  entries: readonly T[],
  named: string,
): readonly T[] {
  const exact = entries.filter(({ id, key }) => id === named || key === named);
  if (exact.length > 0) return exact;
  const ids = [...new Set(entries.map(({ id }) => id))];
  if (ids.length <= 1) return entries;
  throw new UsageError(
    `${ids.length} ids in quarantine begin with ${named}`,
    `Give more of one: ${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}.`,
  );
}

function retry(args: QuarantineArgs): Promise<number> {
  return runOffline('retry', args, async (session, { print, folder }) => {
    const { report, published, exitCode } = await retryQuarantine(session, filterOf(args));
    print(retryText(report, folder), report);
    return { exitCode, published };
  });
}

/** @param entries their number */
export function listText(entries: number, table: string): string {
  if (entries === 0) return 'nothing is in quarantine';
  return `${table}\n${entries} ${entries === 1 ? 'entry' : 'entries'}; one with its text: ledgerlake quarantine show <id>`;
}

/** Entries by what is wrong with them, as a table. */
export function listGroups(entries: readonly QuarantineEntry[]): { groups: QuarantineGroup[]; text: string } {
  const groups = groupQuarantine(entries);
  const heads = ['id', 'job', 'table', 'column', 'reason', 'entries', 'for example'];
  const rows = groups.map(({ job, table, column, reason, entries: count, raw, id }) => [
    ...[id, job ?? '', table, column ?? '(record)', reason, `${count}`, raw ?? ''],
  ]);
  return { groups, text: formatTable(columns(heads), rows, terminal()) };
}

/** A line an entry. */
export function listEntries(entries: readonly QuarantineEntry[]): string {
  const heads = ['id', 'job', 'table', 'column', 'key', 'reason', 'text'];
  const rows = entries.map(({ id, job, table, column, key, reason, raw }) => [
    ...[id, job ?? '', table, column ?? '(record)', key ?? '', reason, raw ?? ''],
  ]);
  return formatTable(columns(heads), rows, terminal());
}

const columns = (names: readonly string[]) =>
  names.map((name) => ({ name, right: name === 'entries', whole: name === 'id' }));

/** The width of a terminal to cut to; none where stdout is a file or a pipe. */
function terminal(): { width?: number } {
  return process.stdout.isTTY ? { width: process.stdout.columns ?? 80 } : {};
}

/** One entry, with where its page is. Pure. */
export function describeEntry(entry: QuarantineEntry & { page_line: LocatedPage | null }): string {
  const { id, table, column, key, job, target, reason, raw, page, slot, crawl, page_line: line } = entry;
  const origin = `${job ?? 'a job that is not known any more'}${target === null || target === '' ? '' : `/${target}`}`;
  const request =
    line === null
      ? 'the page is not kept any more: only `ledgerlake quarantine retry --ask` can read it again'
      : `${line.operation} ${JSON.stringify(line.request)}\nin segment ${line.segment} of the ${line.kept === 'archive' ? 'archive' : 'landing log'}, received ${line.received_at} by run ${line.run}`;
  return [
    `${id}: ${table}.${column ?? '(whole record)'}${key === null ? '' : ` of ${key}`}: ${reason}`,
    `job ${origin}, crawl ${crawl}, page ${page}, slot ${slot ?? 'none'}`,
    request,
    'raw text:',
    raw ?? '(none)',
  ]
    .flatMap((text) => text.split('\n'))
    .map(oneLine)
    .join('\n');
}

/** The result of a retry. Pure. */
export function retryText(report: RetryReport, folder: DataFolder): string {
  const { tried, left, gone, reloaded, refused, audits } = report;
  if (tried === 0) return 'nothing of that is in quarantine';
  const lines = [
    `${tried} ${tried === 1 ? 'entry' : 'entries'} read again from ${reloaded.segments} segments: ${tried - left} fit now, ${left} do not`,
  ];
  if (gone > 0)
    lines.push(
      `  the pages of ${gone} are not kept any more (warehouse.keep_raw_days): ledgerlake quarantine retry --ask`,
    );
  return [...lines, ...refusalLines(refused, folder, 'RELOADED'), ...auditLines(audits)].join('\n');
}
