import type { QuarantineEntry } from './quarantine.ts';
import type { RowVersion } from './row-versions.ts';

/** An answer that a row was read from, or that said the row is still so. */
export interface RowAnswer {
  /** What it is to the row: `last change`, `last seen`, `content last seen`, `version of <time>`. */
  of: string[];
  /** When it arrived, ISO 8601. */
  received_at: string;
  /** Null where no kept page has it: what follows is unknown then. */
  page: AnsweredPage | null;
}

export interface AnsweredPage {
  run: string;
  job: string;
  target: string;
  operation: string;
  /** What was asked for: the task's parameters and those that choose the page. Never the key. */
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
  /** What waits for a second answer because a crawl did not show the row. */
  absent: AbsentRow | null;
  /** The same in sentences. */
  reasons: string[];
  /** Newer crawls of its targets that a guard holds back. */
  held: { job: string; target: string; guard: string; accept: string; reason: string; run: string }[];
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
