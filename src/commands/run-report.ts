import type { DataFolder } from '../data-folder.ts';
import type { MergeCounts } from '../publish/merge-table.ts';
import type { RunReport } from '../run/run-outcome.ts';
import type { JobProgress } from '../run/run-state.ts';
import { quoteForShell } from '../shell-words.ts';
import { countOf, formatCount, formatSeconds, jobTitle } from '../words.ts';
import { auditLines, refusalLines } from './refusal-text.ts';
import { oneLine } from './visible-text.ts';

/** The part of a run that its report is made from: without the errors. */
export type ToldRun = Omit<RunReport, 'stopped' | 'leftOut'>;

/** What a person reads after a run: what it took, what changed, and what needs somebody, last. Pure. @param hasSnapshot whether there are tables to look at */
export function renderRunReport(
  report: ToldRun,
  folder: Pick<DataFolder, 'root'>,
  hasSnapshot: boolean,
): string {
  const jobs = Object.entries(report.jobs);
  const lines = [`run ${report.run}: ${describeCost(report)}`];
  for (const [job, progress] of jobs) lines.push(...describeJob(job, progress));
  const tables = describeTables(report.published.tables);
  if (tables.length > 0) lines.push('what changed:', ...tables);
  if (hasSnapshot)
    lines.push(`tables: ledgerlake sql --data-dir ${quoteForShell(folder.root)} "show tables"`);
  const warnings = [...jobs.flatMap(([job, progress]) => warnOfJob(job, progress)), ...warnOfRows(report)];
  warnings.push(...refusalLines(report.published.refused, folder), ...auditLines(report.published.audits));
  return [...lines, ...(warnings.length === 0 ? [] : ['needs attention:', ...warnings])].join('\n');
}

function describeCost({ requests, credits, saved, seconds }: ToldRun): string {
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
  const good = done - failed;
  const targets = `${formatCount(good)} of ${countOf(tasks, 'target')}`;
  const had = before > 0 ? `, ${formatCount(before)} complete before` : '';
  return [`  ${jobTitle(job)}: ${targets}, ${countOf(records, 'record')} in ${countOf(pages, 'page')}${had}`];
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

/** `assets: 12 new, 114 changed, 2 gone, 11,863 unchanged`; none of tables that nothing was seen of. Pure. */
export function describeTables(tables: Readonly<Record<string, MergeCounts>>): string[] {
  return Object.entries(tables).flatMap(([table, counts]) => {
    const told = describeCounts(counts);
    return told === '' ? [] : `  ${table}: ${told}`;
  });
}

/** `12 new, 114 changed`; empty where nothing was seen. Pure. */
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

function warnOfRows({ published }: ToldRun): string[] {
  return published.quarantined.map(
    ({ job, records, reason }) =>
      `  ${jobTitle(job)}: ${countOf(records, 'record')} quarantined, mostly: ${oneLine(reason)} (ledgerlake quarantine list)`,
  );
}
