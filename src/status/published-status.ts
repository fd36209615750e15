import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import type { Job } from '../jobs/job.ts';
import { crawlKey } from '../landing/reader.ts';
import type { GuardName } from '../publish/accepted.ts';
import { type CrawledTarget, listFormer } from '../run/current-targets.ts';
import type { RunEntry } from '../run/run-log.ts';
import { readSql } from '../sql-text.ts';
import { requireSchema } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';

/** What a feed covers: the lowest and highest slot that are in, gaps between them aside. Null for all else. */
interface Covered {
  covered_from: bigint | null;
  covered_to: bigint | null;
}

/** What the snapshot says of a job, and of the targets that it has now. */
export interface PublishedJob extends Covered {
  job: string;
  targets: bigint;
  complete: bigint;
  /** Complete ones whose crawl brought no record: right for an owner without accounts, wrong for a misspelt address. */
  empty: bigint;
  open: bigint;
  failed: bigint;
  /** Received, and held back by a guard until somebody accepts them or a right night takes their place. */
  held: bigint;
  /** All data up to this slot is in: of feeds only where each is covered from slot 0 on. */
  complete_as_of: bigint | null;
  /** Incremental jobs: changes up to this slot are in, which says nothing of rows that left. */
  changes_seen_to: bigint | null;
  last_complete: Date | null;
  /** When the last full crawl of the target that waited longest ended. */
  last_full: Date | null;
  quarantined: bigint;
  /** Targets with records that mention no key and may be any row: what those targets miss has to be missed twice. */
  keyless: bigint;
  /** Targets with records that are older than their rows by more than a replica lags: the rows stay as they are. */
  stale: bigint;
}

export interface PublishedTarget extends Covered {
  /** `second`: what it covers are Unix times. */
  covered_unit: 'slot' | 'second' | null;
  target: string;
  /** Whether its job does not have it any more. */
  former: boolean;
  state: string;
  complete_as_of: bigint | null;
  changes_seen_to: bigint | null;
  last_full: Date | null;
  pages: bigint;
  records: bigint;
  quarantined: bigint;
  /** Of the quarantined records, those that its latest crawl found first. */
  quarantined_new: bigint;
  /** Of the quarantined records, those that mention no key. */
  keyless: bigint;
  /** Records of the latest crawl that are older than their rows by more than a replica lags. */
  stale: bigint;
  finished_at: Date | null;
  reason: string | null;
}

export interface Gap {
  job: string;
  target: string;
  low_slot: bigint;
  high_slot: bigint;
  /** `second`: they are Unix times. */
  unit: 'slot' | 'second';
  /** Where the next run asks again; null where only the head leads there. */
  cursor: string | null;
}

/** Slots, or times from the first record on. */
export function describeRange(unit: Gap['unit'], from: bigint, to: bigint): string {
  if (unit === 'slot') return `slots ${from} to ${to}`;
  const time = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
  return `${from === 0n ? 'times' : `times ${time(from)}`} to ${time(to)}`;
}

/** What a guard holds back (`meta.held`). */
export interface Held {
  job: string;
  /** Empty where it is of several targets together. */
  target: string;
  targets: bigint;
  guard: GuardName;
  accept: string;
  reason: string;
  run: string;
}

/** A target that has a checkpoint. */
export interface KnownTarget {
  job: string;
  target: string;
  former: boolean;
}

/** What the snapshot says; what is missing and what is due stands in the job files. */
export interface PublishedStatus {
  jobs: PublishedJob[];
  /** Of the job asked for; empty without one. */
  targets: PublishedTarget[];
  /** Of the job asked for; without one, all. */
  gaps: Gap[];
  /** Rows that were missing once and wait for a second answer. */
  absent: number;
  /** Rows that live on and that no target of a job should show any more, by table. */
  unfollowed: Record<string, number>;
  /** What guards hold back of the job asked for, or of all: once for a job where one counted over it. */
  held: Held[];
  /** Crawls that are in the tables. */
  done: ReadonlySet<string>;
  /** By job. */
  known: KnownTarget[];
}

/** What is asked of the snapshot, and what is known of the targets without it. */
interface Asked {
  job: string | null;
  files: readonly Job[];
  named: ReadonlyMap<string, ReadonlySet<string> | null>;
}

/** Reads the snapshot, which must be there. @throws UsageError as requireSchema */
export async function readPublished(
  folder: DataFolder,
  config: Config,
  asked: Asked,
): Promise<PublishedStatus> {
  const { memoryLimit, threads } = config.warehouse;
  const database = await openDatabase(folder.snapshot, {
    memoryLimit,
    threads,
    tempDir: folder.temp,
    readOnly: true,
  });
  const { job } = asked;
  try {
    await requireSchema(database);
    await database.run(readSql('status/target-status.sql'));
    const known = await readKnown(database, asked);
    const former = known.filter(({ former }) => former);
    await database.run(readSql('status/former.sql'), {
      jobs: former.map(({ job }) => job),
      targets: former.map(({ target }) => target),
    });
    const done = await database.rows<{ task: string; crawl: string }>(
      `select task, crawl from meta.checkpoints where state = 'complete'`,
    );
    const [absent] = await database.rows<{ n: bigint }>('select count(*) as n from meta.absent');
    return {
      absent: Number(absent?.n ?? 0n),
      unfollowed: await countUnfollowed(database),
      held: await database.rows<Held>(readSql('status/held.sql'), { job }),
      done: new Set(done.map(crawlKey)),
      known,
      jobs: await database.rows<PublishedJob>(readSql('status/jobs.sql')),
      targets:
        job === null ? [] : await database.rows<PublishedTarget>(readSql('status/targets.sql'), { job }),
      gaps: await database.rows<Gap>(readSql('status/gaps.sql'), { job }),
    };
  } finally {
    database.close();
  }
}

async function countUnfollowed(database: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name, living } of readTableSpecs().filter(({ followed }) => followed)) {
    const [row] = await database.rows<{ n: bigint }>(
      `select count(*) as n from ${name} where followed = false and ${living}`,
    );
    counts[name] = Number(row?.n ?? 0n);
  }
  return counts;
}

/** The runs are those of the snapshot: what later ones crawled is not in its checkpoints. */
async function readKnown(database: Database, { files, named }: Asked): Promise<KnownTarget[]> {
  const runs = await database.rows<RunEntry>(readSql('status/runs.sql'));
  const rows = await database.rows<CrawledTarget & { job: string }>(
    'select job, target, last_run as "lastRun" from target_status order by job, target',
  );
  const byJob = new Map<string, CrawledTarget[]>();
  for (const row of rows) {
    const own = byJob.get(row.job);
    if (own === undefined) byJob.set(row.job, [row]);
    else own.push(row);
  }
  return [...byJob].flatMap(([job, crawled]) => {
    const file = files.find(({ name }) => name === job) ?? null;
    const former = listFormer(job, file, named.get(job) ?? null, crawled, runs);
    return crawled.map(({ target }) => ({ job, target, former: former.has(target) }));
  });
}
