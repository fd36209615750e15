import type { MergeCounts } from '../publish/merge-table.ts';
import type { RunSummary } from '../run/read-runs.ts';
import type { DoneJob } from '../run/run-log.ts';
import { countOf, formatCount, formatSeconds } from '../words.ts';
import { describeEnd, listProblems, sumRows } from './verdict.ts';

/** The summary of a finished run, for `on_finish` and metrics. Names as in its JSON. */
export interface FinishedRun {
  /** Null: it did not begin, because of its configuration or another run. */
  run: string | null;
  verb: string;
  exit_code: number;
  outcome: string;
  started_at: string;
  finished_at: string;
  seconds: number;
  requests: number;
  credits: number;
  saved: number;
  jobs: Readonly<Record<string, DoneJob>>;
  tables: Readonly<Record<string, MergeCounts>>;
  /** Records with something that did not fit. */
  quarantined: number;
  /** What needs attention, a line each. */
  attention: string[];
  /** The summary in a few lines, for chat programs. */
  text: string;
}

/** Lines of `attention` that the text has. */
const maxLines = 5;

/**
 * Summarises a run from its logs. Pure.
 * @param logged null: it is not in the run log
 */
export function describeFinished(
  logged: RunSummary | null,
  ended: { verb: string; exitCode: number; startedAt: number; now: number; reason: string | null },
): FinishedRun {
  const { verb, exitCode, startedAt, now, reason } = ended;
  const seconds = (now - startedAt) / 1000;
  const outcome = describeEnd({ state: 'ended', exitCode }).text;
  const problems = logged === null ? [] : listProblems(logged);
  const attention = problems.length === 0 && reason !== null ? [reason] : problems;
  const { requests = 0, credits = 0, saved = 0, did, found } = logged ?? {};
  return {
    ...{ run: logged?.run ?? null, verb, exit_code: exitCode, outcome },
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(now).toISOString(),
    ...{ seconds, requests, credits, saved },
    ...{ jobs: did?.jobs ?? {}, tables: did?.tables ?? {}, quarantined: found?.quarantined ?? 0, attention },
    text: renderText(verb, outcome, seconds, logged, attention),
  };
}

function renderText(
  verb: string,
  outcome: string,
  seconds: number,
  logged: RunSummary | null,
  attention: readonly string[],
): string {
  const lines = [`ledgerlake ${verb}: ${outcome}, ${formatSeconds(seconds)}`];
  if (logged !== null) {
    const rows = sumRows(logged);
    const cost = `${countOf(logged.requests, 'request')}, ${countOf(logged.credits, 'credit')}`;
    const counts =
      rows === null
        ? ''
        : `${formatCount(rows.inserted)} new, ${formatCount(rows.changed)} changed, ${formatCount(rows.gone)} gone; `;
    lines.push(`${counts}${cost}`);
  }
  lines.push(...attention.slice(0, maxLines).map((line) => `• ${line.slice(0, 300)}`));
  if (attention.length > maxLines) lines.push(`• and ${attention.length - maxLines} more`);
  return lines.join('\n');
}

/** Whether the run needs attention: it neither completed nor stopped as requested. Pure. */
export function isFailure({ exit_code }: Pick<FinishedRun, 'exit_code'>): boolean {
  return exit_code !== 0 && exit_code !== 75;
}
