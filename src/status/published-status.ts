import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import type { Job } from '../jobs/job.ts';
import { crawlKey } from '../landing/reader.ts';
import { makeThresholds } from '../publish/crawl-tables.ts';
import type { GuardName, Waiting } from '../publish/published.ts';
import { listWaiting } from '../publish/settle-absent.ts';
import { type CrawledTarget, listFormer } from '../run/current-targets.ts';
import { type Dropped, listDropped } from '../run/dropped-targets.ts';
import type { RunEntry } from '../run/run-log.ts';
import { readSql } from '../sql-text.ts';
import { checkVersion } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';

/** The lowest and highest slot that a feed covers, whatever gaps are between them. Null for other jobs. */
interface Covered {
  covered_from: bigint | null;
  covered_to: bigint | null;
}

/** A job in the snapshot, over its current targets. */
export interface PublishedJob extends Covered {
  job: string;
  targets: bigint;
  complete: bigint;
  /** Complete targets without any record: right for an owner without accounts, wrong for a misspelt address. */
  empty: bigint;
  open: bigint;
  failed: bigint;
  /** Received, and held back by a guard until somebody accepts them or a later crawl replaces them. */
  held: bigint;
  /** All data up to this slot is in; for feeds, only where each is covered from slot 0 on. */
  complete_as_of: bigint | null;
  /** Incremental jobs: changes up to this slot are in; rows that left may still be there. */
  changes_seen_to: bigint | null;
  last_complete: Date | null;
  /** When the last full crawl of the target that waited longest ended. */
  last_full: Date | null;
  quarantined: bigint;
  /** Targets with records without a key, which may be any row: rows that these targets miss must be missed twice. */
  keyless: bigint;
  /** Targets with records that are older than their rows by more than a replica lags; the rows stay. */
  stale: bigint;
}

export interface PublishedTarget extends Covered {
  /** `second`: the range is in Unix time. */
  covered_unit: 'slot' | 'second' | null;
  target: string;
  /** Whether its job has dropped it. */
  former: boolean;
  state: string;
  complete_as_of: bigint | null;
  changes_seen_to: bigint | null;
  last_full: Date | null;
  pages: bigint;
  records: bigint;
  quarantined: bigint;
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
  /** `second`: the bounds are Unix times. */
  unit: 'slot' | 'second';
  /** Where the next run continues; null where it must start from the head. */
  cursor: string | null;
}

/** A range of slots or times as text; from 0 means from the first record. */
export function describeRange(unit: Gap['unit'], from: bigint, to: bigint): string {
  if (unit === 'slot') return `slots ${from} to ${to}`;
  const time = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
  return `${from === 0n ? 'times' : `times ${time(from)}`} to ${time(to)}`;
}

/** What a guard holds back (`meta.held`). */
export interface Held {
  job: string;
  /** Empty where it concerns several targets together. */
  target: string;
  targets: bigint;
  guard: GuardName | 'ahead';
  /** What `--accept` takes. */
  id: string;
  /** The job that it is about: of look-ups, the one that missed the rows. */
  for_job: string;
  reason: string;
  run: string;
}

/** A target that has a checkpoint. */
export interface CheckpointTarget {
  job: string;
  target: string;
  former: boolean;
}

/** The status in the snapshot; missing targets and due crawls follow from the job files. */
export interface PublishedStatus {
  jobs: PublishedJob[];
  /** Targets of the requested job; empty without one. */
  targets: PublishedTarget[];
  /** Gaps of the requested job, or of all. */
  gaps: Gap[];
  /** Rows that were missing once and wait for a second answer. */
  absent: number;
  /** Jobs that seem to have lost most of their rows, which are kept until a second look. */
  waiting: Waiting[];
  /** Targets with rows that their jobs do not request any more. */
  dropped: Dropped[];
  /** Live rows that no job follows any more, by table. */
  unfollowed: Record<string, number>;
  /** Crawls of the requested job, or of all, that guards hold back; once a job where the guard counts over the whole job. */
  held: Held[];
  /** Crawls that are in the tables. */
  done: ReadonlySet<string>;
  /** Every target with a checkpoint, by job. */
  checkpointTargets: CheckpointTarget[];
}

/** The requested job, and the targets by the job files. */
interface StatusRequest {
  job: string | null;
  files: readonly Job[];
  named: ReadonlyMap<string, ReadonlySet<string> | null>;
  /** The run log, which has what was accepted since. */
  runs: readonly RunEntry[];
}

/** Reads the snapshot, which must be there. @throws UsageError as checkVersion */
export async function readPublished(
  folder: DataFolder,
  config: Config,
  request: StatusRequest,
): Promise<PublishedStatus> {
  const { memoryLimit, threads } = config.warehouse;
  const database = await openDatabase(folder.snapshot, {
    memoryLimit,
    threads,
    tempDir: folder.temp,
    readOnly: true,
  });
  const { job } = request;
  try {
    await checkVersion(database);
    await database.run(readSql('status/target-status.sql'));
    const checkpointTargets = await readCheckpointTargets(database, request);
    const former = checkpointTargets.filter(({ former }) => former);
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
      waiting: await readWaiting(database, config),
      dropped: await listDropped(database, request.runs, request.files),
      unfollowed: await countUnfollowed(database),
      held: await database.rows<Held>(readSql('status/held.sql'), { job }),
      done: new Set(done.map(crawlKey)),
      checkpointTargets,
      jobs: await database.rows<PublishedJob>(readSql('status/jobs.sql')),
      targets:
        job === null ? [] : await database.rows<PublishedTarget>(readSql('status/targets.sql'), { job }),
      gaps: await database.rows<Gap>(readSql('status/gaps.sql'), { job }),
    };
  } finally {
    database.close();
  }
}

async function readWaiting(database: Database, { warehouse }: Config): Promise<Waiting[]> {
  const { guards, quarantineLimit } = warehouse;
  await makeThresholds(database, { ...guards, quarantineLimit });
  return listWaiting(database);
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

/** Reads the targets with a checkpoint. The runs come from the snapshot too, because its checkpoints lack later crawls. */
async function readCheckpointTargets(
  database: Database,
  { files, named }: StatusRequest,
): Promise<CheckpointTarget[]> {
  const runs = await database.rows<RunEntry>(readSql('status/runs.sql'));
  const rows = await database.rows<CrawledTarget & { job: string }>(
    'select job, target, last_run as "lastRun" from target_status order by job, target',
  );
  const byJob = new Map<string, CrawledTarget[]>();
  for (const row of rows) {
    const targets = byJob.get(row.job);
    if (targets === undefined) byJob.set(row.job, [row]);
    else targets.push(row);
  }
  return [...byJob].flatMap(([job, crawled]) => {
    const file = files.find(({ name }) => name === job) ?? null;
    const former = listFormer(job, file, named.get(job) ?? null, crawled, runs);
    return crawled.map(({ target }) => ({ job, target, former: former.has(target) }));
  });
}
