import { cutLine } from '../screen.ts';
import { countOf, formatCount, formatSeconds, jobTitle } from '../words.ts';
import type { JobProgress } from './run-state.ts';

/** What the lines on a terminal are drawn from. */
export interface ProgressView {
  jobs: ReadonlyMap<string, JobProgress>;
  /** Seconds since the first page of a job, by job. */
  seconds: ReadonlyMap<string, number>;
  elapsedSeconds: number;
  requests: number;
  credits: number;
  retries: number;
  /** Requests a second now, and what the limit allows; Infinity: nothing limits. */
  rps: number;
  limitRps: number;
  /** Unix ms until which a pool waits, because the API said so; 0: none does. */
  heldUntil: number;
  inFlight: number;
  stopping: boolean;
  /** Unix ms. */
  now: number;
}

const barWidth = 12;
/** Jobs that are drawn; of more, those at work. */
const maxJobs = 12;

/** One line a job, a total, and what the run waits for; none wider than the terminal. Pure. */
export function renderProgress(view: ProgressView, width: number): string[] {
  const all = [...view.jobs];
  const shown = all.length <= maxJobs ? all : all.filter(([, job]) => job.done < job.tasks).slice(0, maxJobs);
  const nameWidth = Math.min(
    24,
    Math.max(0, ...shown.map(([name]) => jobTitle(name).length)),
    Math.floor(width / 3),
  );
  const lines = shown.map(([name, job]) => renderJob(name, job, view.seconds.get(name) ?? 0, nameWidth));
  if (shown.length < all.length)
    lines.push(`and ${countOf(all.length - shown.length, 'more job', 'more jobs')}`);
  lines.push(renderTotal(view));
  const state = renderState(view);
  if (state !== null) lines.push(state);
  // The last column stays free: some terminals wrap when it is written.
  return lines.map((line) => cutLine(line, Math.max(8, width - 1)));
}

function renderJob(name: string, job: JobProgress, seconds: number, nameWidth: number): string {
  const title = cutLine(jobTitle(name), nameWidth).padEnd(nameWidth);
  if (job.leftOut !== null) return `${title} left out of this run`;
  const done = job.done + job.before;
  const total = job.tasks + job.before;
  if (total === 0) return `${title} waits`;
  const share = done / total;
  const filled = Math.round(share * barWidth);
  const parts = [`${formatCount(done)}/${formatCount(total)}`];
  const left = job.tasks - job.done;
  // The most useful first: what does not fit is cut.
  if (left === 0) parts.push('done');
  else if (job.done > 0) parts.push(`ETA ${formatSeconds((seconds / job.done) * left)}`);
  if (job.failed > 0) parts.push(`${formatCount(job.failed)} failed`);
  parts.push(countOf(job.records, 'record'));
  return `${title} ${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${parts.join('  ')}`;
}

function renderTotal({ elapsedSeconds, requests, credits, retries, rps, limitRps }: ProgressView): string {
  const limit = Number.isFinite(limitRps) ? ` of ${formatRate(limitRps)}` : '';
  const parts = [
    formatSeconds(elapsedSeconds),
    `${formatRate(rps)}${limit}/s`,
    countOf(requests, 'request'),
    ...(retries > 0 ? [countOf(retries, 'retry', 'retries')] : []),
    countOf(credits, 'credit'),
  ];
  return `total ${parts.join('  ')}`;
}

function formatRate(rps: number): string {
  return rps < 9.95 ? rps.toFixed(1) : formatCount(Math.round(rps));
}

function renderState({ stopping, inFlight, heldUntil, now }: ProgressView): string | null {
  if (stopping) return `stopping, ${countOf(inFlight, 'request')} in flight`;
  if (heldUntil - now < 1000) return null;
  return `waiting for the API until ${new Date(heldUntil).toTimeString().slice(0, 8)}, as it asked`;
}
