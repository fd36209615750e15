import { countOf, formatCount, formatSeconds, jobTitle } from '../words.ts';
import { drawCredits, drawReceived, drawTimeline } from './charts.ts';
import { renderData } from './data-section.ts';
import { type Html, html, raw } from './html.ts';
import {
  formatShare,
  formatTime,
  groupDigits,
  layOutId,
  layOutPage,
  layOutTable,
  layOutTiles,
} from './layout.ts';
import type { Examples } from './read-examples.ts';
import type { ReportData, SnapshotData } from './read-report.ts';
import { describeEnd, listProblems, sumRows } from './verdict.ts';

/** The page of one run: what it took, what it changed, how far everything is, and what the tables hold. Pure. */
export function renderRunPage(report: ReportData): string {
  const { run, snapshot } = report;
  return layOutPage(`ledgerlake run ${run.run}`, [
    renderHead(report),
    renderCourse(report),
    renderJobs(report),
    renderChanges(report),
    ...(snapshot === null
      ? []
      : [renderQuarantine(snapshot), renderFreshness(snapshot), ...renderData(snapshot)]),
    html`<p class="muted">Made by <code>ledgerlake report</code> from the snapshot and the logs of the data folder. Tables are as of the last publish.</p>`,
  ]);
}

function renderHead({ run, status, monthlyCredits, daily }: ReportData): Html {
  const rows = sumRows(run);
  const end = describeEnd(run);
  const month = daily.reduce((sum, { credits }) => sum + credits, 0);
  const problems = listProblems(run);
  const quarantined = run.found?.quarantined ?? 0;
  const tiles = layOutTiles([
    {
      value: end.text,
      label: `how it ended${run.exitCode === null ? '' : ` (exit ${run.exitCode})`}`,
      tone: end.tone,
    },
    { value: run.seconds === null ? '–' : formatSeconds(run.seconds), label: 'time taken' },
    {
      value: formatCount(run.requests),
      label: run.saved > 0 ? `requests, ${formatCount(run.saved)} saved` : 'requests',
    },
    { value: formatCount(run.credits), label: 'credits' },
    {
      value: monthlyCredits === null ? formatCount(month) : formatShare(month / Math.max(1, monthlyCredits)),
      label:
        monthlyCredits === null
          ? 'credits this billing month'
          : `of ${formatCount(monthlyCredits)} credits this month, ${formatCount(status.creditsLeft ?? 0)} left`,
    },
    ...(rows === null
      ? []
      : [
          { value: formatCount(rows.inserted), label: 'new rows' },
          { value: formatCount(rows.changed), label: 'changed' },
          { value: formatCount(rows.gone), label: 'gone' },
          { value: formatCount(rows.confirmed), label: 'unchanged' },
          {
            value: formatCount(quarantined),
            label: 'quarantined',
            tone: quarantined > 0 ? ('warn' as const) : undefined,
          },
        ]),
  ]);
  return html`<header><h1>Run of ${formatTime(run.startedAt)}</h1>
<p class="muted">${run.verb} · ${run.run} · ${run.jobs.map(jobTitle).join(', ')}</p>${tiles}${
    problems.length === 0 ? '' : html`<h3 class="warn">Needs attention</h3>${listLines(problems)}`
  }</header>`;
}

function listLines(lines: readonly string[]): Html {
  const shown = lines.slice(0, 20).map((line) => html`<li>${line}</li>`);
  const more = lines.length > 20 ? html`<li>and ${formatCount(lines.length - 20)} more</li>` : '';
  return html`<ul>${shown}${more}</ul>`;
}

function renderCourse(report: ReportData): Html {
  const { timeline, snapshot, limits } = report;
  const charts = [drawTimeline(report), drawReceived(report), drawCredits(report)].filter(
    (chart) => chart !== null,
  );
  const note =
    timeline === null && report.run.requests > 0
      ? html`<p class="muted">The log keeps single requests only of the last run; of this run it has the sums below.</p>`
      : '';
  const pools = (timeline?.pools ?? []).map(({ pool, requests, throttles, meanRps, peakRps }) => {
    const limit = limits[pool];
    return [
      pool,
      formatCount(requests),
      formatCount(throttles),
      `${meanRps.toFixed(1)}/s`,
      `${peakRps.toFixed(1)}/s`,
      limit === undefined ? 'not known' : `${limit.toFixed(1)}/s`,
      limit === undefined ? '–' : formatShare(meanRps / limit),
    ];
  });
  const right = (...names: string[]) => names.map((name) => ({ name, right: true }));
  const operations = (snapshot?.operations ?? []).map((row) => [
    row.operation,
    ...[row.requests, row.retries, row.throttles, row.failures, row.credits, row.saved].map(groupDigits),
    row.latency_p50_ms === null ? '–' : `${Math.round(row.latency_p50_ms)} ms`,
    row.latency_p95_ms === null ? '–' : `${Math.round(row.latency_p95_ms)} ms`,
  ]);
  return html`<section><h2>The run</h2>${note}<div class="charts">${charts}</div>${
    pools.length === 0 ? '' : raw('<h3>Use of the limit</h3>')
  }${layOutTable([{ name: 'pool' }, ...right('requests', 'throttled', 'mean', 'busiest 10 s', 'limit', 'used')], pools)}${
    operations.length === 0 ? '' : raw('<h3>Operations</h3>')
  }${layOutTable([{ name: 'operation' }, ...right('requests', 'retries', 'throttled', 'failed', 'credits', 'saved', 'median', '95th percentile')], operations)}</section>`;
}

function renderJobs({ status, run, snapshot }: ReportData): Html {
  const columns = [
    { name: 'job' },
    ...['targets', 'complete', 'open', 'failed', 'held back', 'quarantined'].map((name) => ({
      name,
      right: true,
    })),
    { name: 'complete as of slot', right: true },
    { name: 'when' },
    { name: 'received in this run', right: true },
  ];
  const rows = status.jobs.map((job) => {
    const received = run.did?.jobs[job.job];
    const slot = job.complete_as_of ?? job.covered_to;
    return [
      jobTitle(job.job),
      ...[job.targets, job.complete, job.open, job.failed, job.held, job.quarantined].map(formatCount),
      slot === null ? '–' : groupDigits(`${slot}`),
      formatTime(job.last_complete),
      received === undefined ? '–' : countOf(received.records, 'record'),
    ];
  });
  const targets = (snapshot?.targets ?? []).map((row) => [
    jobTitle(row.job),
    row.target === '' ? 'the whole job' : layOutId(row.target),
    row.state === 'held' ? 'held back' : row.state,
    row.slot === null ? '–' : groupDigits(row.slot),
    formatTime(row.finished_at),
    groupDigits(row.records),
    row.reason ?? '',
  ]);
  const targetColumns = [
    ...[{ name: 'job' }, { name: 'target' }, { name: 'state' }],
    ...[
      { name: 'as of slot', right: true },
      { name: 'when' },
      { name: 'records', right: true },
      { name: 'why' },
    ],
  ];
  const gaps =
    status.gaps.length === 0
      ? ''
      : html`<p class="warn">${countOf(status.gaps.length, 'gap')} in feeds: see <code>ledgerlake status</code>.</p>`;
  return html`<section><h2>How complete it is</h2>${layOutTable(columns, rows)}${gaps}${
    targets.length === 0
      ? ''
      : html`<h3>Targets that are not complete</h3>${layOutTable(targetColumns, targets)}`
  }</section>`;
}

function renderChanges({ run, snapshot }: ReportData): Html {
  const names = ['inserted', 'changed', 'amended', 'gone', 'confirmed', 'stale'] as const;
  const heads = ['new', 'changed', 'updated in place', 'gone', 'unchanged', 'older than what is known'];
  const rows = Object.entries(run.did?.tables ?? {}).flatMap(([table, counts]) =>
    names.every((name) => counts[name] === 0)
      ? []
      : [[table, ...names.map((name) => formatCount(counts[name]))]],
  );
  const examples = (snapshot?.examples ?? []).map(renderExamples);
  const nothing =
    rows.length + examples.length === 0 ? html`<p class="muted">This run recorded no changes.</p>` : '';
  return html`<section><h2>What changed</h2>${layOutTable([{ name: 'table' }, ...heads.map((name) => ({ name, right: true }))], rows)}${nothing}${examples}</section>`;
}

function renderExamples({ table, inserted, changed, gone }: Examples): Html {
  const list = (word: string, rows: Examples['inserted']) =>
    rows.map(({ key, text }) => [word, layOutId(key), text]);
  const rows = [...list('new', inserted), ...list('changed', changed), ...list('gone', gone)];
  return html`<h3>Examples of ${table}</h3>${layOutTable([{ name: '' }, { name: 'row' }, { name: 'what' }], rows)}`;
}

function renderQuarantine({ quarantine }: SnapshotData): Html {
  const rows = quarantine.map((row) => [
    row.table_name,
    row.column_name ?? 'the whole record',
    row.reason,
    groupDigits(row.entries),
    layOutId(row.example ?? ''),
  ]);
  const columns = [
    { name: 'table' },
    { name: 'column' },
    { name: 'reason' },
    { name: 'entries', right: true },
    { name: 'for example' },
  ];
  return html`<section><h2>What did not fit</h2>${
    rows.length === 0
      ? html`<p class="muted">Everything received fits its columns.</p>`
      : layOutTable(columns, rows)
  }</section>`;
}

function renderFreshness({ tables }: SnapshotData): Html {
  const rows = tables.map(({ name, rows, seen_at, slot }) => [
    name,
    groupDigits(rows),
    formatTime(seen_at),
    slot === null ? '–' : groupDigits(slot),
  ]);
  const columns = [
    { name: 'table' },
    { name: 'rows', right: true },
    { name: 'newest answer' },
    { name: 'newest slot', right: true },
  ];
  return html`<section><h2>How fresh it is</h2>${layOutTable(columns, rows)}</section>`;
}
