import type { RunSummary } from '../run/read-runs.ts';
import { countOf, formatCount, formatSeconds, jobTitle } from '../words.ts';
import { drawChart } from './charts.ts';
import { type Html, html } from './html.ts';
import { formatTime, layOutPage, layOutTable } from './layout.ts';
import { describeEnd, listProblems, sumRows } from './verdict.ts';

/** The page that compares runs. Pure. @param runs newest first */
export function renderRunsPage(runs: readonly RunSummary[]): string {
  const inOrder = [...runs].reverse();
  return layOutPage(`ledgerlake: the last ${countOf(runs.length, 'run')}`, [
    html`<header><h1>The last ${countOf(runs.length, 'run')}</h1><p class="muted">${formatTime(inOrder[0]?.startedAt ?? null)} to ${formatTime(runs[0]?.startedAt ?? null)}</p></header>`,
    html`<div class="charts">${drawCharts(inOrder)}</div>`,
    renderTable(runs),
    renderProblems(runs),
    html`<p class="muted">Made by <code>ledgerlake report --last</code> from the logs of the data folder.</p>`,
  ]);
}

function drawCharts(runs: readonly RunSummary[]): Html[] {
  const labels = runs.map(({ startedAt }) => startedAt.slice(5, 10));
  const rows = runs.map((run) => sumRows(run) ?? { inserted: 0, changed: 0, gone: 0, confirmed: 0 });
  const last = runs.at(-1);
  const longest = Math.max(...runs.map(({ seconds }) => seconds ?? 0));
  const unit = longest < 300 ? { name: 'seconds', seconds: 1 } : { name: 'minutes', seconds: 60 };
  return [
    drawChart({
      title: `Time taken, ${unit.name}`,
      summary: `How long each run took; the last one ${formatSeconds(last?.seconds ?? 0)}`,
      labels,
      series: [
        {
          name: unit.name,
          values: runs.map(({ seconds }) => Number(((seconds ?? 0) / unit.seconds).toFixed(2))),
        },
      ],
    }),
    drawChart({
      title: 'Requests',
      summary: `Requests of each run; the last one ${formatCount(last?.requests ?? 0)}`,
      labels,
      series: [
        { name: 'made', values: runs.map(({ requests }) => requests) },
        { name: 'saved', values: runs.map(({ saved }) => saved), colour: 3 },
      ],
    }),
    drawChart({
      title: 'Credits',
      summary: `Credits of each run; the last one ${formatCount(last?.credits ?? 0)}`,
      labels,
      series: [{ name: 'credits', values: runs.map(({ credits }) => credits), colour: 1 }],
    }),
    drawChart({
      title: 'Rows',
      summary: 'New, changed and gone rows of each run',
      labels,
      series: [
        { name: 'new', values: rows.map(({ inserted }) => inserted), colour: 3 },
        { name: 'changed', values: rows.map(({ changed }) => changed), colour: 0 },
        { name: 'gone', values: rows.map(({ gone }) => gone), colour: 2 },
      ],
    }),
  ];
}

function renderTable(runs: readonly RunSummary[]): Html {
  const rows = runs.map((run) => {
    const end = describeEnd(run);
    const sum = sumRows(run);
    return [
      html`<span class="id">${run.run}</span>`,
      run.jobs.length > 3 ? countOf(run.jobs.length, 'job') : run.jobs.map(jobTitle).join(', '),
      html`<span class="${end.tone ?? ''}">${end.text}</span>`,
      run.seconds === null ? '–' : formatSeconds(run.seconds),
      ...[run.requests, run.credits, run.saved].map(formatCount),
      ...(['inserted', 'changed', 'gone', 'confirmed'] as const).map((name) =>
        sum === null ? '–' : formatCount(sum[name]),
      ),
    ];
  });
  const right = ['took', 'requests', 'credits', 'saved', 'new', 'changed', 'gone', 'unchanged'];
  const columns = [
    ...[{ name: 'run' }, { name: 'jobs' }, { name: 'end' }],
    ...right.map((name) => ({ name, right: true })),
  ];
  return html`<section><h2>Runs</h2>${layOutTable(columns, rows)}</section>`;
}

function renderProblems(runs: readonly RunSummary[]): Html {
  const rows = runs.flatMap((run) =>
    listProblems(run)
      .slice(0, 5)
      .map((line) => [html`<span class="id">${run.run}</span>`, line]),
  );
  if (rows.length === 0) return html`<p class="good">No run needed attention.</p>`;
  return html`<section><h2>Needed attention</h2>${layOutTable([{ name: 'run' }, { name: 'what' }], rows)}</section>`;
}
