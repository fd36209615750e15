/**
 * Bytes of the segment's record file and of its page file that survive a power loss when the line is written: what is
 * damaged before them is no torn tail.
 */
export type Synced = readonly [recordBytes: number, pageBytes: number];

/**
 * What the landing log says of a page: one line of `<n>.pages.ndjson`. Together with the record lines before
 * `end_offset` it is the crawl's resume point, so it holds everything the crawl needs to go on.
 */
export interface PageLine {
  kind: 'page';
  /** Identity of the task: hash of job, operation, parameters, target and range. */
  task: string;
  /** The run that began this crawl of the task; (task, crawl) names one crawl. */
  crawl: string;
  /** The run that received this page. */
  run: string;
  /** … and in which of its waves, from 1: what comes in one is published before the next is asked for. */
  wave?: number;
  job: string;
  target: string;
  operation: string;
  /** The task's parameters, without the ones that choose the page. */
  params: Readonly<Record<string, unknown>>;
  shape: string;
  /** Groups of a row that this answer carries even when their key is absent. */
  carries: readonly string[];
  /** Parameters that choose the page, as sent: `{limit, cursor}`, `{limit, page}`, … Null for a batch slice. */
  position: Position | null;
  /** Counts from 1 in the order received; for a batch, the number of the slice. */
  page: number;
  /**
   * How the crawl goes on, or null when this page ended it. A feed that ended at what others cover keeps it: there it
   * is gone on, should they not go as far down.
   */
  next: Position | null;
  /** Why the crawl ended with this page, or null while it is open. */
  end: EndReason | null;
  /** The slot the answer says it reflects; null where the source has none. */
  slot: number | null;
  /** The highest slot that could be right when the page came: one above it that stands in a record is none. */
  slot_ceiling?: number;
  records: number;
  /** First pages: SHA-256 (its first half, hex) of the records as they stand in the answer, by which a crawl sees that nothing moved. */
  content?: string;
  /** Bytes of the longest record: what a reader must be ready for. */
  longest: number;
  /** Records that DuckDB could not read, kept as text beside the others. */
  set_aside: number;
  /** `null` answers of a batch. */
  nulls: number;
  /** Operations whose records stand in groups: how the page's end cuts them. */
  group?: PageGroup | null;
  /** Whether the list is a newest-first feed. */
  feed?: boolean;
  /** Whether the crawl goes only down to what is known. */
  incremental?: boolean;
  /** Partitioned jobs: the range of ids that the crawl walks, its bounds exclusive; null for the whole list. */
  range?: { number: number; count: number; after: string | null; before: string | null } | null;
  /** Feeds: the slot a crawl that fills a gap begins at; null when it begins at the head. */
  from_slot?: number | null;
  /** Feeds: slot that the page reaches down to (`crawl/page-facts.ts`); null where its records do not say. */
  last_slot: number | null;
  /** Feeds that go by time: true. Their `last_slot` and `from_slot` are Unix times in seconds, … */
  by_time?: true;
  /** … and the page covers up to this one, its newest record's, where it is a head; null where no record says a time. */
  first_time?: number | null;
  /** Feeds: false where the page's slots do not go down from those of the page before it: it covers nothing. */
  descends?: boolean;
  /** Keyset operations: the id that the walk goes on after when its cursor is refused; null where none is in order. */
  last_key?: string | null;
  /** Crawls whose cursor was refused: how the walk stands after its restarts. */
  restart?: Restart;
  /** Crawls that go on: what would show that the walk came by here before. */
  marks?: readonly string[];
  /** On the first page after a restart: pages before it may come again. */
  begins_walk?: boolean;
  /** Forms of records (`SplitRecord.form`) that the segment meets first on this page, by numbers of the segment. */
  forms?: readonly { form: number; like: string }[];
  /** Numbers of the records' forms, null for those that none is known of; without it, none is of any. */
  form_of?: readonly (number | null)[];
  /** The records' digests (record-digests.ts), 16 bytes each, in base64; none for a page of too many records. */
  digests?: string;
  /** Bytes of the record file up to and including this page. */
  end_offset: number;
  /** CRC-32 of this page's bytes in the record file. */
  crc32: number;
  /** ISO 8601, UTC. */
  received_at: string;
  synced?: Synced;
  /** The answer without its records, as JSON text in a string: it may hold escapes that DuckDB refuses. */
  envelope: string;
}

/**
 * Most bytes of an envelope in its line. Measured with DuckDB 1.5.5 at a memory_limit of 256MB: publishing and archiving
 * read page files of 20 MB with lines of any length up to 12 MB; what else a line has is less than 4 MB.
 */
export const maxEnvelopeBytes = 4_000_000;

/** A group of records that stand together, such as a signature's transfers, may go on from page to page. */
export interface PageGroup {
  /** Records of the page's first group that stand on the pages before it. */
  before: number;
  /** The group of the page's last record, … */
  last: string;
  /** … and how many records of it the crawl has had so far. */
  count: number;
  /** Marks of those among them that are on this page, in order: the next page may begin with some of them again. */
  tail?: readonly string[];
}

/**
 * The parameters that choose a page. One style is set: `cursor`, `page`, or bounds of ids, exclusive (`after`,
 * `before` or both); none for the first page of a cursor walk.
 */
export interface Position {
  limit: number;
  cursor?: string;
  page?: number;
  after?: string;
  before?: string;
}

/** Where a walk stands that began again because the API no longer knew its cursor. */
export interface Restart {
  /** Restarts since it last came further than ever before. */
  count: number;
  /** Whole pages, and parts of them, since the walk last began at the start of the list, and the most that it ever was. */
  depth: number;
  deepest: number;
}

/**
 * - `exhausted`: the source has no more
 * - `unchanged`: the first page was not newer than the last complete crawl, and the same as its first
 * - `known`: an incremental crawl reached rows that are in the tables, unchanged
 * - `short`: fewer records came than were asked for, where that is the end (`api.short_page_ends`)
 * - `covered`: a feed reached what is already covered
 * - `since`: a feed reached the oldest slot or the last page asked for
 */
export type EndReason = 'exhausted' | 'unchanged' | 'known' | 'short' | 'covered' | 'since';

/**
 * The frozen ids of one slice of a batch task, written before its first request. A slice that is too much to be
 * answered is cut: its first part is frozen again under its number, the others before it under new ones.
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
  /** True on the last slice of the list: it is frozen in full. */
  last: boolean;
  synced?: Synced;
}

export type LandingLine = PageLine | IdsLine | FailedLine | AcceptedLine | ForgottenLine;

/** A crawl that cannot go on: its target failed. A new crawl of the task begins from the start. */
export interface FailedLine {
  kind: 'failed';
  task: string;
  crawl: string;
  run: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  /** As in a page's line. */
  range?: PageLine['range'];
  /** What the API said, without the key. */
  reason: string;
  failed_at: string;
  synced?: Synced;
}

/** A crawl that a guard refused, or that no run has published yet, and that `run` is to publish with what it accepts. */
export interface AcceptedLine {
  kind: 'accepted';
  task: string;
  crawl: string;
  /** The run that was told to accept it: the crawl is published as one of this run's. */
  run: string;
  job: string;
  target: string;
  operation: string;
  shape: string;
  /** ISO 8601, UTC. */
  accepted_at: string;
  synced?: Synced;
}

/** Rows that somebody had the tables forget: a part of their keys. It counts when all lines of its run are there. */
export interface ForgottenLine {
  kind: 'forgotten';
  /** `_forget`: it is of no crawl. */
  task: string;
  /** The run that was told to. */
  crawl: string;
  run: string;
  /** The job, or job/target, whose rows they are. */
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
