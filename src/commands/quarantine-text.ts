import type { DataFolder } from '../data-folder.ts';
import type { LocatedPage } from '../status/locate-entry.ts';
import { groupQuarantine, type QuarantineEntry, type QuarantineGroup } from '../status/quarantine.ts';
import type { RetryReport } from '../status/retry-quarantine.ts';
import { auditLines, refusalLines } from './refusal-text.ts';
import { formatTable } from './text-table.ts';
import { oneLine } from './visible-text.ts';

/** @param entries how many there are */
export function listText(entries: number, table: string): string {
  if (entries === 0) return 'nothing is in quarantine';
  return `${table}\n${entries} ${entries === 1 ? 'entry' : 'entries'}; one with its text: ledgerlake quarantine show <id>`;
}

/** Entries by what is wrong with them, as a table. */
export function listGroups(entries: readonly QuarantineEntry[]): { groups: QuarantineGroup[]; text: string } {
  const groups = groupQuarantine(entries);
  const heads = ['job', 'table', 'column', 'reason', 'entries', 'for example', 'id'];
  const rows = groups.map(({ job, table, column, reason, entries: count, raw, id }) => [
    ...[job ?? '', table, column ?? '(record)', reason, `${count}`, raw ?? '', id],
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

const columns = (names: readonly string[]) => names.map((name) => ({ name, right: name === 'entries' }));

/** Cut to a terminal; whole where a program or a file reads it. */
function terminal(): { width?: number } {
  return process.stdout.isTTY ? { width: process.stdout.columns ?? 80 } : {};
}

/** One entry, with where its page is. Pure. */
export function describeEntry(entry: QuarantineEntry & { page_line: LocatedPage | null }): string {
  const { id, table, column, key, job, target, reason, raw, page, slot, crawl, page_line: line } = entry;
  const place = `${job ?? 'a job that is not known any more'}${target === null || target === '' ? '' : `/${target}`}`;
  const request =
    line === null
      ? 'the page is not kept any more: only `ledgerlake quarantine retry --ask` can read it again'
      : `${line.operation} ${JSON.stringify(line.request)}\nin segment ${line.segment} of the ${line.kept === 'archive' ? 'archive' : 'landing log'}, received ${line.received_at} by run ${line.run}`;
  return [
    `${id}: ${table}.${column ?? '(whole record)'}${key === null ? '' : ` of ${key}`}: ${reason}`,
    `job ${place}, crawl ${crawl}, page ${page}, slot ${slot ?? 'none'}`,
    request,
    'raw text:',
    raw ?? '(none)',
  ]
    .flatMap((text) => text.split('\n'))
    .map(oneLine)
    .join('\n');
}

/** What a retry came to. Pure. */
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
