import type { QuarantineEntry } from './quarantine.ts';
import type { RowVersion } from './row-versions.ts';

/** An answer that a row was read from, or that showed it unchanged. */
export interface RowAnswer {
  /** Its meaning for the row: `last change`, `last seen`, `content last seen`, `version of <time>`. */
  of: string[];
  /** When it arrived, ISO 8601. */
  received_at: string;
  /** Null where the page is not kept any more. */
  page: AnsweredPage | null;
}

export interface AnsweredPage {
  run: string;
  job: string;
  target: string;
  operation: string;
  /** The request's parameters, paging included; never the key. */
  request: Readonly<Record<string, unknown>>;
  task: string;
  crawl: string;
  page: number;
  slot: number | null;
  segment: number;
  kept: 'archive' | 'landing';
  /** Number of the record in the page, from 0. */
  record: number;
  /** Groups of the row that the record carries. */
  carries: string[];
  /** The record's own text. */
  text: string;
}

export interface Explanation {
  table: string;
  key: Readonly<Record<string, string>>;
  state: 'current' | 'gone' | 'not in the table';
  /** Newest first; the current one has no `valid_to`. Tables without history have at most one. */
  versions: RowVersion[];
  answers: RowAnswer[];
  quarantine: QuarantineEntry[];
  /** The entry of meta.absent, if a crawl missed the row. */
  absent: AbsentRow | null;
  /** The explanation in sentences. */
  reasons: string[];
  /** Newer crawls of its targets that a guard holds back. */
  held: { job: string; target: string; guard: string; id: string; reason: string; run: string }[];
}

export interface AbsentRow {
  job: string;
  target: string;
  lookup: string | null;
  slot: bigint | null;
  missed_at: string;
  asked_at: string | null;
  null_at: string | null;
  null_slot: bigint | null;
}

/** Why rows leave a table, by `gone_reason`. */
const goneReasons: Readonly<Record<string, string>> = {
  not_listed: 'a complete crawl of its target did not list it',
  zero_or_closed: 'a complete crawl that hides zero balances did not list it: it is zero, or closed',
  unknown: 'two look-ups, hours and slots apart, found nothing under its key',
  spent: 'a transaction spent it',
};

/** Why a row is as it is: one sentence each. Pure. */
export function explainWhy(explanation: Omit<Explanation, 'reasons'>): string[] {
  const { versions, absent, quarantine, held } = explanation;
  const [newest] = versions;
  return [
    ...(newest === undefined ? ['No record of it became a row.'] : describeNewest(newest)),
    ...(newest === undefined ? [] : describeGroups(newest)),
    ...describeLost(explanation),
    ...(absent === null ? [] : [describeAbsent(absent)]),
    ...quarantine.map(({ column, reason, id }) =>
      column === null
        ? `A record that mentions it was refused: ${reason} (quarantine ${id}).`
        : `${column} is NULL because its text did not fit: ${reason} (quarantine ${id}).`,
    ),
    ...held.map(
      ({ job, target, guard, reason }) =>
        `A newer crawl of ${job}${target === '' ? '' : `/${target}`} waits: the guard ${guard} refused it (${reason}).`,
    ),
  ];
}

function describeNewest({ valid_from, valid_to, gone_reason, run_id, seen, ...slots }: RowVersion): string[] {
  const at = slots.valid_from_slot === null ? '' : ` at slot ${slots.valid_from_slot}`;
  const changed = `It has had these values${at} since an answer of ${valid_from ?? 'an unknown time'} (run ${run_id}).`;
  if (valid_to !== null) {
    const why = goneReasons[gone_reason ?? ''] ?? gone_reason ?? 'the reason was not recorded';
    return [changed, `It left the table with an answer of ${valid_to}: ${why} (${gone_reason}).`];
  }
  if (seen.base == null || seen.base === valid_from) return [changed];
  return [changed, `The last answer that showed it unchanged came on ${seen.base}.`];
}

/** Groups that no answer carried, and those that later answers did not carry. */
function describeGroups({ seen }: RowVersion): string[] {
  const base = seen.base ?? '';
  const groups = Object.entries(seen).filter(([group]) => group !== 'base');
  const never = groups.flatMap(([group, at]) => (at === null ? group : []));
  return [
    ...(never.length === 0 ? [] : [`No answer has carried ${never.join(', ')} yet.`]),
    ...groups.flatMap(([group, at]) =>
      at !== null && at < base ? `${group} is from an answer of ${at}: later ones did not carry it.` : [],
    ),
  ];
}

function describeLost({ answers }: Pick<Explanation, 'answers'>): string[] {
  return answers.flatMap(({ of, received_at, page }) =>
    page !== null
      ? []
      : `The page of ${received_at} (${of.join(', ')}) is not kept any more, or never was: warehouse.keep_raw_days says how long pages are kept.`,
  );
}

function describeAbsent({
  job,
  target,
  missed_at,
  null_at,
  lookup,
}: NonNullable<Explanation['absent']>): string {
  const jobTarget = `${job}${target === '' ? '' : `/${target}`}`;
  const next =
    lookup === null
      ? 'it leaves when the next crawl misses it, too'
      : `the job _confirm looks it up with ${lookup}`;
  const first = null_at === null ? '' : `, and an answer of ${null_at} had nothing under its key`;
  return `It may be gone: the crawl of ${jobTarget} that ended on ${missed_at} did not show it${first}; ${next}.`;
}
