/**
 * How many bytes of the segment's record file and page file are synced when the line is written. Damage before these offsets
 * is not a torn tail.
 */
export type Synced = readonly [recordBytes: number, pageBytes: number];

/**
 * A page in the landing log: one line of `<n>.pages.ndjson`. Together with the record lines before `end_offset` it is the
 * crawl's resume point, so it holds everything that the crawl needs to continue.
 */
export interface PageLine {
  kind: 'page';
  /** Identity of the task: hash of job, operation, parameters, target and range. */
  task: string;
  /** The run that began this crawl of the task. (task, crawl) identifies a crawl. */
  crawl: string;
  /** The run that received this page. */
  run: string;
  /** The wave of that run, from 1. A wave's pages are published before the next wave is crawled. */
  wave?: number;
  job: string;
  target: string;
  operation: string;
  /** The task's parameters, without those that choose the page. */
  params: Readonly<Record<string, unknown>>;
  shape: string;
  /** Groups of a row that this answer carries even if their key is absent. */
  carries: readonly string[];
  /** Parameters that choose the page, as sent: `{limit, cursor}`, `{limit, page}`, … Null for a batch slice. */
  position: Position | null;
  /** The page's number, from 1 in the order received; for a batch, the number of the slice. */
  page: number;
  /**
   * Where the crawl continues, or null when this page ended it. A feed that ended at slots covered by other crawls keeps it,
   * to continue there if they turn out not to reach as far down.
   */
  next: Position | null;
  /** Why the crawl ended with this page; null while it is open. */
  end: EndReason | null;
  /** The slot that the answer reflects; null if the source has none. */
  slot: number | null;
  /** The highest plausible slot when the page came: a higher number in a record is not taken for a slot. */
  slot_ceiling?: number;
  records: number;
  /** First pages: half a SHA-256 (hex) of the records, by which a crawl sees that nothing changed. */
  content?: string;
  /** Bytes of the longest record, for which a reader's buffer must have room. */
  longest: number;
  /** How many records DuckDB could not read; they are kept as text. */
  set_aside: number;
  /** How many answers of a batch were `null`. */
  nulls: number;
  /** Operations with grouped records: how the page cuts the groups. */
  group?: PageGroup | null;
  /** Whether the list is a newest-first feed. */
  feed?: boolean;
  /** Whether the crawl ends at rows that are stored unchanged. */
  incremental?: boolean;
  /** Partitioned jobs: the range of ids that the crawl covers, its bounds exclusive; null for the whole list. */
  range?: { number: number; count: number; after: string | null; before: string | null } | null;
  /** Feeds: the slot at which a crawl that fills a gap begins; null when it begins at the head. */
  from_slot?: number | null;
  /** Feeds: the slot that the page reaches down to (`crawl/page-facts.ts`); null if its records have none. */
  last_slot: number | null;
  /** True for feeds by time: their `last_slot` and `from_slot` are Unix times in seconds. */
  by_time?: true;
  /** Feeds by time: the newest record's time, up to which a head covers; null if no record has a time. */
  first_time?: number | null;
  /** Feeds: false if the page's slots do not descend from those of the page before it; such a page covers nothing. */
  descends?: boolean;
  /** Feeds: the slot from which up the page was read within `overlap` of its slots' own time; the next round reads them again. */
  fresh_slot?: number;
  /** Keyset operations: the id after which the crawl continues if its cursor is refused; null if no id is in order. */
  last_key?: string | null;
  /** Crawls whose cursor was refused: their restarts so far. */
  restart?: Restart;
  /** Open crawls: marks of this page, by which the crawl notices that it visits the same part of the list again. */
  marks?: readonly string[];
  /** True on the first page after a restart: marks of pages before it no longer count. */
  begins_walk?: boolean;
  /** Forms (`LandingRecord.form`) that no page of the segment before this one has, with their numbers in the segment. */
  forms?: readonly { form: number; like: string }[];
  /** The number of each record's form, null for a record without one; absent in a repaired line. */
  form_of?: readonly (number | null)[];
  /** The records' digests (record-digests.ts), 16 bytes each, in base64. */
  digests: string;
  /** Bytes of the record file up to and including this page. */
  end_offset: number;
  /** CRC-32 of this page's bytes in the record file. */
  crc32: number;
  /** ISO 8601, UTC. */
  received_at: string;
  synced?: Synced;
  /** The answer without its records, as JSON text in a string, because it may hold escapes that DuckDB refuses. */
  envelope: string;
}

/**
 * Most bytes of an envelope in its line. Measured with DuckDB 1.5.5 at a memory_limit of 256MB: publishing and archiving
 * read page files of 20 MB with lines of any length up to 12 MB. The rest of a line is less than 4 MB, so that SQL reads
 * page files with lines of at most 8 MiB.
 */
export const maxEnvelopeBytes = 4_000_000;

/** Most records of a page: the API sends a hundredth of them. Their digests take over 2 MB of its line. */
export const maxPageRecords = 100_000;

/** How a page cuts a group of adjacent records, such as a signature's transfers, which may span pages. */
export interface PageGroup {
  /** How many records of the page's first group are on the pages before it. */
  before: number;
  /** The group of the page's last record. */
  last: string;
  /** How many records of that group the crawl has received so far. */
  count: number;
  /** Marks of that group's records on this page, in order: the next page may begin with some of them again. */
  tail?: readonly string[];
}

/**
 * The parameters that choose a page. One style is set: `cursor`, `page`, or exclusive bounds of ids (`after`, `before` or
 * both); none for the first page of a list with cursors.
 */
export interface Position {
  limit: number;
  cursor?: string;
  page?: number;
  after?: string;
  before?: string;
}

/** Restarts of a crawl whose cursor the API no longer knew. */
export interface Restart {
  /** Restarts since the crawl last reached further than ever before. */
  count: number;
  /** Pages, whole and in part, since the crawl last began at the start of the list. */
  depth: number;
  /** The greatest `depth` so far. */
  deepest: number;
}

/**
 * - `exhausted`: the source has no more
 * - `unchanged`: the first page was no newer than the last complete crawl, and equal to its first
 * - `known`: an incremental crawl reached rows that are stored unchanged
 * - `short`: the page has fewer records than requested, and that means the end (`api.short_page_ends`)
 * - `covered`: a feed reached slots that are already covered
 * - `since`: a feed reached the oldest slot or the last page that the job wants
 */
export type EndReason = 'exhausted' | 'unchanged' | 'known' | 'short' | 'covered' | 'since';

/**
 * The frozen ids of one slice of a batch task, written before its first request. A slice that is too large to be answered is
 * cut: its other parts are frozen under new numbers, then its first part again under its own.
 */
export interface IdsLine {
  kind: 'ids';
  task: string;
  crawl: string;
  run: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  page: number;
  ids: readonly string[];
  /** True on the last slice: the list is complete. */
  last: boolean;
  synced?: Synced;
}

export type LandingLine = PageLine | IdsLine | FailedLine | AcceptedLine | ForgottenLine;

/** A crawl that cannot continue because its target failed. A new crawl of the task begins from the start. */
export interface FailedLine {
  kind: 'failed';
  task: string;
  crawl: string;
  run: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  /** As in a PageLine. */
  range?: PageLine['range'];
  /** The API's error text, without the key. */
  reason: string;
  /** Where an answer's slot was too far ahead: the slot, the highest that was plausible, and the id that accepts it. */
  ahead?: { refusal: string; slot: number; ceiling: number };
  failed_at: string;
  synced?: Synced;
}

/** Accepts what a guard found about a crawl that it refused: `run` publishes the crawl. */
export interface AcceptedLine {
  kind: 'accepted';
  task: string;
  crawl: string;
  /** The run that accepts it: the crawl is published as one of this run's. */
  run: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  /** ISO 8601, UTC. */
  accepted_at: string;
  /** What is let pass, as `meta.refusals` has it. */
  finding: { guard: string; for_job: string; column_name: string | null };
  synced?: Synced;
}

/** Keys of rows that a person had the tables forget, in one or more lines. They count once all lines of the run are there. */
export interface ForgottenLine {
  kind: 'forgotten';
  /** `_forget`: the line belongs to no crawl. */
  task: string;
  /** The run that forgets. */
  crawl: string;
  run: string;
  /** The job, or job/target, that the rows belong to. */
  name: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  table: string;
  keys: readonly string[];
  /** True on the last line of the run. */
  last: boolean;
  /** ISO 8601, UTC. */
  forgotten_at: string;
  synced?: Synced;
}
