import type { MergeCounts } from '../publish/merge-table.ts';
import type { RunSummary } from '../run/read-runs.ts';
import type { DoneJob } from '../run/run-log.ts';
import { countOf, formatCount, formatSeconds } from '../words.ts';
import { describeEnd, listTroubles, sumRows } from './verdict.ts';

/** The summary of a run that has ended, for others: `on_finish` and metrics. Names as in its JSON. */
export interface FinishedRun {
  /** Null: it did not begin, because of its configuration or of another run. */
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
  /** What needs somebody, a line each. */
  attention: string[];
  /** The same in a few lines, as chat programs take it. */
  text: string;
}

/** Lines of `attention` that the text has. */
const maxLines = 5;

/**
 * Puts together what the logs say of a run. Pure.
 * @param logged null: it is not in the run log
 */
export function describeFinished(
  logged: RunSummary | null,
  ended: { verb: string; exitCode: number; startedAt: number; now: number; reason: string | null },
): FinishedRun {
  const { verb, exitCode, startedAt, now, reason } = ended;
  const seconds = (now - startedAt) / 1000;
  const outcome = describeEnd({ state: 'ended', exitCode }).text;
  const told = logged === null ? [] : listTroubles(logged);
  const attention = told.length === 0 && reason !== null ? [reason] : told;
  const { requests = 0, credits = 0, saved = 0, did, found } = logged ?? {};
  return {
    ...{ run: logged?.run ?? null, verb, exit_code: exitCode, outcome },
    started_at: new Date(startedAt).toISOString(),
    finished_at: new Date(now).toISOString(),
    ...{ seconds, requests, credits, saved },
    ...{ jobs: did?.jobs ?? {}, tables: did?.tables ?? {}, quarantined: found?.quarantined ?? 0, attention },
    text: tell(verb, outcome, seconds, logged, attention),
  };
}

function tell(
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

/** Whether somebody has to look: all but what was complete, or stopped as asked. Pure. */
export function isFailure({ exit_code }: Pick<FinishedRun, 'exit_code'>): boolean {
  return exit_code !== 0 && exit_code !== 75;
}
