import type { DataFolder } from '../data-folder.ts';
import type { MergeCounts } from '../publish/merge-table.ts';
import { describeWaiting, type Refusal, type Waiting } from '../publish/published.ts';
import { type Dropped, describeDropped } from '../run/dropped-targets.ts';
import type { RunReport } from '../run/run-outcome.ts';
import type { JobProgress } from '../run/run-state.ts';
import { quoteForShell } from '../shell-words.ts';
import { type AuditFinding, describeFinding, isError } from '../warehouse/own-views.ts';
import { countOf, formatCount, formatSeconds, jobTitle } from '../words.ts';
import { oneLine } from './visible-text.ts';

/** What a run's report is rendered from: everything but the errors. */
export type ReportedRun = Omit<RunReport, 'stopped' | 'leftOut'>;

/**
 * The report of a run for people: its cost, what changed, and last what needs attention. Pure.
 * @param hasSnapshot whether there are tables to query
 */
export function renderRunReport(
  report: ReportedRun,
  folder: Pick<DataFolder, 'root'>,
  hasSnapshot: boolean,
): string {
  const jobs = Object.entries(report.jobs);
  const lines = [`run ${report.run}: ${describeCost(report)}`];
  for (const [job, progress] of jobs) lines.push(...describeJob(job, progress));
  const tables = describeTables(report.published.tables);
  if (tables.length > 0) lines.push('what changed:', ...tables);
  if (hasSnapshot) lines.push('tables: ledgerlake sql "show tables"');
  const warnings = [...jobs.flatMap(([job, progress]) => warnOfJob(job, progress)), ...warnOfRows(report)];
  warnings.push(...waitingLines(report.published.waiting));
  warnings.push(
    ...droppedLines(report.dropped, folder),
    ...refusalLines(report.published.refused, folder),
    ...auditLines(report.published.audits),
  );
  return [...lines, ...(warnings.length === 0 ? [] : ['needs attention:', ...warnings])].join('\n');
}

function describeCost({ requests, credits, saved, seconds }: ReportedRun): string {
  const parts = [countOf(requests, 'request'), countOf(credits, 'credit'), formatSeconds(seconds)];
  if (saved > 0) parts.push(`${countOf(saved, 'request')} saved`);
  return parts.join(', ');
}

function describeJob(job: string, progress: JobProgress): string[] {
  const { done, tasks, before, failed, pages, records, leftOut } = progress;
  if (leftOut !== null) return [];
  if (tasks === 0)
    return [
      `  ${job}: nothing to do: no targets, or all complete in this round (ledgerlake run ${job} begins a new round)`,
    ];
  const targets = `${formatCount(done - failed)} of ${countOf(tasks, 'target')}`;
  const complete = before > 0 ? `, ${formatCount(before)} complete before` : '';
  return [
    `  ${jobTitle(job)}: ${targets}, ${countOf(records, 'record')} in ${countOf(pages, 'page')}${complete}`,
  ];
}

/** What a count of rows is called, in the order of the report. */
const countNames: readonly [keyof MergeCounts, string][] = [
  ['inserted', 'new'],
  ['changed', 'changed'],
  ['amended', 'updated in place'],
  ['gone', 'gone'],
  ['confirmed', 'unchanged'],
  ['stale', 'older than what is known'],
  ['late', 'of the new ones came late'],
];

/** `assets: 12 new, 114 changed, 2 gone, 11,863 unchanged`; without the tables that nothing was received for. Pure. */
export function describeTables(tables: Readonly<Record<string, MergeCounts>>): string[] {
  return Object.entries(tables).flatMap(([table, counts]) => {
    const text = describeCounts(counts);
    return text === '' ? [] : `  ${table}: ${text}`;
  });
}

/** `12 new, 114 changed`; empty where nothing was received. Pure. */
export function describeCounts(counts: MergeCounts): string {
  const parts = countNames.flatMap(([name, word]) =>
    counts[name] > 0 ? `${formatCount(counts[name])} ${word}` : [],
  );
  return parts.join(', ');
}

function warnOfJob(job: string, progress: JobProgress): string[] {
  const title = jobTitle(job);
  const lines: string[] = [];
  if (progress.leftOut !== null) lines.push(`  ${title}: left out of this run: ${oneLine(progress.leftOut)}`);
  for (const line of progress.targetsLeftOut) lines.push(`  ${title}: left out: ${oneLine(line)}`);
  if (progress.failed > 0) {
    lines.push(`  ${title}: ${countOf(progress.failed, 'target')} failed; the next run tries again`);
    for (const { target, reason } of progress.failures)
      lines.push(`    ${target === '' ? title : oneLine(target)}: ${oneLine(reason)}`);
    const more = progress.failed - progress.failures.length;
    if (more > 0) lines.push(`    and ${formatCount(more)} more`);
  }
  return lines;
}

function warnOfRows({ published }: ReportedRun): string[] {
  return published.quarantined.map(
    ({ job, records, reason, first }) =>
      `  ${jobTitle(job)}: ${countOf(records, 'record')} quarantined, mostly: ${oneLine(reason)} (ledgerlake quarantine list)${first ? '; a first crawl, with none to compare it with: look at them' : ''}`,
  );
}

function droppedLines(all: readonly Dropped[], folder: Pick<DataFolder, 'root'>): string[] {
  return all.map(
    (one) =>
      `  ${jobTitle(one.job)}: ${oneLine(describeDropped(one))}; if that is right: ${acceptCommand([one], folder)}`,
  );
}

/** A line for each job that seems to have lost most of its rows. Pure. */
export function waitingLines(waiting: readonly Waiting[]): string[] {
  return waiting.map((one) => `  NOT BELIEVED ${jobTitle(one.job)}: ${oneLine(describeWaiting(one))}`);
}

/** A line for each refusal, and the command that accepts what may be accepted. Pure. @param what PUBLISHED or RELOADED */
export function refusalLines(
  refused: readonly Refusal[],
  folder: Pick<DataFolder, 'root'>,
  what = 'PUBLISHED',
): string[] {
  const lines = refused.map(({ job, target, targets, reason }) => {
    const name = target === '' || job.startsWith('_') ? jobTitle(job) : `${job}/${oneLine(target)}`;
    return `  NOT ${what} ${name}${targets > 1 ? ` (${countOf(targets, 'target')})` : ''}: ${oneLine(reason)}`;
  });
  const command = acceptCommand(refused, folder);
  return command === null ? lines : [...lines, `  it is kept as received; if it is right: ${command}`];
}

/** The command that publishes refused crawls as received; null where none may be accepted. Pure. */
export function acceptCommand(
  refused: readonly Pick<Refusal, 'id'>[],
  { root }: Pick<DataFolder, 'root'>,
): string | null {
  const options = refused.flatMap(({ id }) => (id === null ? [] : `--accept ${id}`));
  if (options.length === 0) return null;
  return `ledgerlake publish --data-dir ${quoteForShell(root)} ${[...new Set(options)].join(' ')}`;
}

/** A line for each audit of the project that returned rows, errors first; then what the errors held back. Pure. */
export function auditLines(audits: readonly AuditFinding[]): string[] {
  const lines = [...audits.filter(isError), ...audits.filter((audit) => !isError(audit))].map(
    (finding) => `  ${oneLine(describeFinding(finding))}`,
  );
  if (!audits.some(isError)) return lines;
  return [
    ...lines,
    '  the snapshot stays as it was; what was received is kept. Once the audit passes, or says `-- severity: warn`: ledgerlake publish',
  ];
}
