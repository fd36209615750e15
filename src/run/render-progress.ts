import stringWidth from 'string-width';
import { cutLine, type ScreenSize } from '../screen.ts';
import { countOf, formatCoarsely, formatCount, jobTitle } from '../words.ts';
import type { LiveJob, RunActivity } from './run-state.ts';

/** The state that the lines on a terminal show. */
export interface ProgressView {
  jobs: ReadonlyMap<string, LiveJob>;
  /** Jobs of later waves. */
  coming: readonly string[];
  elapsedSeconds: number;
  requests: number;
  credits: number;
  activity: RunActivity;
  /** Whether the crawl has ended. */
  ended: boolean;
  /** Unix ms. */
  now: number;
}

/** A field of every line, in the order they are drawn. */
interface Field {
  name: 'bar' | 'done' | 'eta' | 'rate' | 'requests' | 'credits' | 'retries' | 'failed' | 'records';
  /** On a narrow terminal the field with the highest rank is left out first. */
  rank: number;
  /** Least width in columns, so that the fields behind do not move while its text changes. */
  least: number;
}

const fields: readonly Field[] = [
  { name: 'bar', rank: 2, least: 0 },
  { name: 'done', rank: 0, least: 0 },
  { name: 'eta', rank: 1, least: 8 },
  { name: 'rate', rank: 4, least: 9 },
  { name: 'requests', rank: 7, least: 0 },
  { name: 'credits', rank: 6, least: 0 },
  { name: 'retries', rank: 5, least: 0 },
  { name: 'failed', rank: 3, least: 0 },
  { name: 'records', rank: 8, least: 0 },
];

type Cells = Partial<Record<Field['name'], string>>;

interface Line {
  title: string;
  cells: Cells;
}

/** Jobs that are drawn where the terminal is high enough; of more, only those at work. */
const maxJobs = 12;

/** Lines that are no jobs: how many more, the total, what the run waits for, and the terminal's cursor. */
const otherLines = 4;

/** Draws one line a job, a total, and what the run waits for, within the terminal's size. Pure. */
export function renderProgress(view: ProgressView, { columns, rows }: ScreenSize): string[] {
  const all = [...view.jobs];
  const maxShown = Math.max(1, Math.min(maxJobs, rows - otherLines));
  const count = all.length + view.coming.length;
  const shown = count <= maxShown ? all : all.filter(([, job]) => isAtWork(job)).slice(0, maxShown);
  const waiting = count <= maxShown ? view.coming : [];
  // The last column stays free, because some terminals wrap when it is written.
  const width = Math.max(8, columns - 1);
  const barWidth = columns < 60 ? 6 : 12;
  const lines = [
    ...shown.map(([name, job]) => ({ title: jobTitle(name), cells: describeJob(job, barWidth, view.ended) })),
    ...waiting.map((name) => ({
      title: jobTitle(name),
      cells: { done: view.ended ? 'not begun' : 'waits' },
    })),
  ];
  const left = count - lines.length;
  const drawn = [
    ...layOut(lines, width),
    ...(left > 0 ? [`and ${countOf(left, lines.length === 0 ? 'job' : 'more job')}`] : []),
    ...layOut([{ title: 'total', cells: describeTotal(view) }], width),
    ...describeActivity(view),
  ];
  return drawn.map((line) => cutLine(line, width));
}

function isAtWork({ done, tasks }: LiveJob): boolean {
  return done < tasks;
}

/** Aligns the fields of lines, without the fields that do not fit. Pure. */
function layOut(lines: readonly Line[], width: number): string[] {
  const widest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => stringWidth(text)));
  const titleWidth = Math.min(24, Math.floor(width / 3), widest(lines.map(({ title }) => title)));
  const placed = fields
    .map((field) => {
      const textWidth = widest(lines.map(({ cells }) => cells[field.name] ?? ''));
      const isFixed = textWidth === 0 || lines.length === 1;
      return { ...field, width: isFixed ? textWidth : Math.max(textWidth, field.least) };
    })
    .filter((field) => field.width > 0);
  const total = () => placed.reduce((sum, field) => sum + field.width + 2, titleWidth);
  while (total() > width && placed.length > 1)
    placed.splice(placed.indexOf(placed.reduce((last, field) => (field.rank > last.rank ? field : last))), 1);
  return lines.map(({ title, cells }) => {
    const texts = placed.map((field) => padLine(cells[field.name] ?? '', field.width));
    return [padLine(cutLine(title, titleWidth), titleWidth), ...texts].join('  ').trimEnd();
  });
}

function padLine(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

function describeJob(job: LiveJob, barWidth: number, ended: boolean): Cells {
  if (job.leftOut !== null) return { done: 'left out of this run' };
  const total = job.tasks + job.before;
  if (total === 0) return { done: job.planned ? 'nothing to ask for' : ended ? 'not begun' : 'waits' };
  // A bar is full only where nothing is left.
  const filled = Math.min(Math.round(job.share * barWidth), job.share < 1 ? barWidth - 1 : barWidth);
  return {
    bar: '█'.repeat(filled) + '░'.repeat(barWidth - filled),
    done: `${formatCount(job.done + job.before)}/${formatCount(total)}`,
    eta: !isAtWork(job) ? 'done' : ended ? 'stopped' : describeEta(job.etaSeconds),
    rate: isAtWork(job) && !ended ? describeRate(job.rps, job.limitRps) : '',
    credits: countOf(job.credits, 'credit'),
    retries: job.retries > 0 ? countOf(job.retries, 'retry', 'retries') : '',
    failed: job.failed > 0 ? `${formatCount(job.failed)} failed` : '',
    records: countOf(job.records, 'record'),
  };
}

function describeTotal({ jobs, coming, elapsedSeconds, requests, credits, ended }: ProgressView): Cells {
  const all = [...jobs.values()];
  const retries = sum(all.map((job) => job.retries));
  const atWork = ended ? [] : all.filter(isAtWork);
  // The time of jobs that wait is unknown.
  const isKnown = coming.length === 0 && all.every(({ planned, leftOut }) => planned || leftOut !== null);
  const etas = atWork.map(({ etaSeconds }) => etaSeconds);
  const last = isKnown && !etas.includes(null) ? Math.max(0, ...etas.map((eta) => eta ?? 0)) : null;
  return {
    done: formatCoarsely(elapsedSeconds),
    eta: atWork.length === 0 ? '' : describeEta(last),
    rate: atWork.length === 0 ? '' : describeRate(sum(all.map(({ rps }) => rps)), sumLimits(atWork)),
    requests: countOf(requests, 'request'),
    credits: countOf(credits, 'credit'),
    retries: retries > 0 ? countOf(retries, 'retry', 'retries') : '',
  };
}

/** The sum of the limits of the pools in use; null where one has no limit. */
function sumLimits(jobs: readonly LiveJob[]): number | null {
  const limits = new Map(jobs.map(({ pool, limitRps }) => [pool, limitRps]));
  return [...limits.values()].reduce(
    (all, limit) => (all === null || limit === null ? null : all + limit),
    0,
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** The ETA; empty where it is unknown. */
export function describeEta(seconds: number | null): string {
  return seconds === null ? '' : `ETA ${formatCoarsely(Math.max(1, seconds))}`;
}

/** The rate in requests a second. @param limitRps null: no limit */
export function describeRate(rps: number, limitRps: number | null): string {
  return limitRps === null ? `${formatRate(rps)}/s` : `${formatRate(rps)} of ${formatRate(limitRps)}/s`;
}

function formatRate(rps: number): string {
  return rps < 9.95 ? rps.toFixed(1) : formatCount(Math.round(rps));
}

/** What a run does while it does not crawl, the most important first; empty: it crawls. Pure. */
export function describeActivity({ activity, now }: { activity: RunActivity; now: number }): string[] {
  const { stopping, inFlight, stage, heldUntil, restsUntil } = activity;
  if (stopping && inFlight > 0) return [`stopping, ${countOf(inFlight, 'request')} in flight`];
  if (stopping || stage !== null) return [[...(stopping ? ['stopping'] : []), stage ?? []].flat().join(', ')];
  if (restsUntil > now) return [`the API does not answer: asked again at ${clockOf(restsUntil)}`];
  if (heldUntil - now >= 1000) return [`waiting for the API until ${clockOf(heldUntil)}, Retry-After`];
  return [];
}

function clockOf(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8);
}
