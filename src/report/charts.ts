import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent } from 'echarts/components';
import { type EChartsCoreOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { countOf, formatCount } from '../words.ts';
import { type Html, html, raw } from './html.ts';
import type { ReportData } from './read-report.ts';

use([BarChart, LineChart, GridComponent, LegendComponent, SVGRenderer]);

/** Colours of the page's style sheet, so that a chart follows the theme without a script. */
const colours = ['var(--c1)', 'var(--c2)', 'var(--c3)', 'var(--c4)'];
const ink = 'var(--muted)';
const font = 'system-ui, sans-serif';

/** A drawing each for wide and narrow screens: text in an SVG shrinks with it. */
const sizes = [
  { name: 'wide', width: 560, height: 230, ticks: 6 },
  { name: 'narrow', width: 330, height: 220, ticks: 3 },
] as const;

export interface Series {
  name: string;
  /** One for each label. */
  values: readonly number[];
  line?: boolean;
  /** Drawn against an axis of its own, on the right. */
  right?: boolean;
  /** Which colour of the style sheet, from 0. Default: its index. */
  colour?: number;
}

export interface ChartOptions {
  title: string;
  /** What the chart shows, for those who do not see it. */
  summary: string;
  /** Below the axis; our own text or times, never names from the data. */
  labels: readonly string[];
  series: readonly Series[];
}

/** Draws stacked bars, and lines over them. Pure. */
export function drawChart(options: ChartOptions): Html {
  const drawings = sizes.map((size) => {
    const chart = init(null, null, { renderer: 'svg', ssr: true, width: size.width, height: size.height });
    try {
      chart.setOption(describeChart(options, size.ticks));
      return html`<div class="${size.name}" aria-hidden="true">${raw(chart.renderToSVGString())}</div>`;
    } finally {
      // Its clock would keep the process alive.
      chart.dispose();
    }
  });
  return html`<figure role="img" aria-label="${options.summary}"><figcaption>${options.title}</figcaption>${drawings}</figure>`;
}

function describeChart({ labels, series }: ChartOptions, ticks: number): EChartsCoreOption {
  const shown = series.filter(({ values }) => values.some((value) => value > 0));
  const hasRight = shown.some(({ right }) => right);
  const every = Math.max(1, Math.ceil(labels.length / ticks));
  const axis = (name: 'left' | 'right') => ({
    type: 'value',
    position: name,
    minInterval: 1,
    splitNumber: 4,
    axisLabel: { color: ink, fontFamily: font, formatter: shortNumber },
    splitLine: { show: name === 'left', lineStyle: { color: 'var(--line)' } },
  });
  return {
    animation: false,
    color: colours,
    textStyle: { fontFamily: font },
    grid: { left: 48, right: hasRight ? 48 : 12, top: 34, bottom: 26 },
    legend: { top: 0, left: 0, itemWidth: 12, itemHeight: 8, textStyle: { color: ink, fontFamily: font } },
    xAxis: {
      type: 'category',
      data: [...labels],
      axisLabel: {
        color: ink,
        fontFamily: font,
        hideOverlap: true,
        // A label that repeats the one before tells nothing.
        interval: (index: number) => index % every === 0 && labels[index] !== labels[index - every],
      },
      axisLine: { lineStyle: { color: 'var(--line)' } },
      axisTick: { show: false },
    },
    yAxis: hasRight ? [axis('left'), axis('right')] : [axis('left')],
    series: shown.map(({ name, values, line, right, colour }) => {
      const stroke = colours[colour ?? series.findIndex((other) => other.name === name)];
      return {
        name,
        type: line ? 'line' : 'bar',
        data: [...values],
        yAxisIndex: right && hasRight ? 1 : 0,
        ...(line
          ? { symbol: labels.length > 1 ? 'none' : 'circle', lineStyle: { width: 2, color: stroke } }
          : { stack: 'all', barMaxWidth: 36 }),
        itemStyle: { color: stroke },
        emphasis: { disabled: true },
        silent: true,
      };
    }),
  };
}

/** `950`, `1.2k`, `3M`. Pure. */
export function shortNumber(value: number): string {
  const units = ['', 'k', 'M', 'G', 'T'];
  let size = value;
  let unit = 0;
  while (Math.abs(size) >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${Number(size.toPrecision(3))}${units[unit]}`;
}

/** Time of day of a step, UTC. */
function clock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

/** Requests, throttles and retries of the run; null where the log has only their sums. Pure. */
export function drawTimeline({ timeline }: ReportData): Html | null {
  if (timeline === null) return null;
  const { from, stepMs, steps } = timeline;
  const sum = (name: 'requests' | 'throttles' | 'retries') =>
    steps.reduce((total, step) => total + step[name], 0);
  return drawChart({
    title: `Requests each ${Math.round(stepMs / 1000)} s, UTC`,
    summary: `${countOf(sum('requests'), 'request')}, ${formatCount(sum('throttles'))} throttled, ${countOf(sum('retries'), 'retry', 'retries')}`,
    labels: steps.map((_, n) => clock(from + n * stepMs)),
    series: [
      {
        name: 'answered',
        values: steps.map(({ requests, throttles, failures }) => requests - throttles - failures),
      },
      { name: 'throttled', values: steps.map(({ throttles }) => throttles), colour: 1 },
      { name: 'failed', values: steps.map(({ failures }) => failures), colour: 2 },
      { name: 'retries', values: steps.map(({ retries }) => retries), line: true, colour: 3 },
    ],
  });
}

/** Records by when their crawl was complete. Pure. */
export function drawReceived({ timeline, snapshot }: ReportData): Html | null {
  if (timeline === null || snapshot === null || snapshot.received.length === 0) return null;
  const { from, stepMs, steps } = timeline;
  const values = steps.map(() => 0);
  for (const { step, records } of snapshot.received) {
    const n = Math.min(values.length - 1, Math.max(0, step));
    values[n] = (values[n] ?? 0) + records;
  }
  const total = values.reduce((sum, value) => sum + value, 0);
  return drawChart({
    title: 'Records, by when their target was complete, UTC',
    summary: `${countOf(total, 'record')} of targets that were completed`,
    labels: values.map((_, n) => clock(from + n * stepMs)),
    series: [{ name: 'records', values, colour: 3 }],
  });
}

/** Credits of the billing month by day, their sum, and the budget. Pure. */
export function drawCredits({ daily, monthlyCredits }: ReportData): Html | null {
  if (daily.length === 0) return null;
  let spent = 0;
  const sums = daily.map(({ credits }) => {
    spent += credits;
    return spent;
  });
  const budget = monthlyCredits === null ? [] : [monthlyCredits];
  return drawChart({
    title: 'Credits of the billing month, by day',
    summary: `${countOf(spent, 'credit')} so far${monthlyCredits === null ? '' : ` of ${formatCount(monthlyCredits)}`}`,
    labels: daily.map(({ day }) => day.slice(5)),
    series: [
      { name: 'of the day', values: daily.map(({ credits }) => credits), colour: 0 },
      ...(daily.length > 1 ? [{ name: 'so far', values: sums, line: true, colour: 1 }] : []),
      ...budget.map((limit) => ({ name: 'budget', values: daily.map(() => limit), line: true, colour: 2 })),
    ],
  });
}
