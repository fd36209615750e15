import { countOf, formatCount } from '../words.ts';
import { drawChart } from './charts.ts';
import type { Html } from './html.ts';
import type { ReportData } from './read-report.ts';

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
