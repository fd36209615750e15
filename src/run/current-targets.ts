import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { sqlPlace } from '../jobs/target-checks.ts';
import { resolveTargets } from '../jobs/targets.ts';
import type { Database } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import { lastRound, type RunEntry } from './run-log.ts';

/** Where a snapshot is that jobs ask, and what interrupts their SQL. */
interface SnapshotPlace {
  folder: DataFolder;
  config: Config;
  signal: AbortSignal | undefined;
}

/**
 * The targets that the file of each job names now; null where they cannot be told: they come from tables that were
 * never published, or the file has a mistake that `jobs check` tells.
 * @param place of the snapshot, for the SQL of jobs; null: there is none
 */
export async function nameTargets(
  jobs: readonly Job[],
  place: SnapshotPlace | null,
): Promise<Map<string, ReadonlySet<string> | null>> {
  const asksTables = jobs.some(({ forEach }) => forEach?.kind === 'sql');
  const database = place !== null && asksTables ? await openSnapshot(place) : null;
  const name = async (job: Job): Promise<ReadonlySet<string> | null> => {
    try {
      const query = (sql: string) => {
        if (database === null) throw new UsageError('no snapshot', 'Run `ledgerlake run` first.');
        return runJobSql(database, sqlPlace(job), sql);
      };
      const targets = await resolveTargets(job, query, () => undefined);
      return new Set(targets.map(({ name }) => name));
    } catch (error) {
      if (error instanceof UsageError) return null;
      throw error;
    }
  };
  try {
    const named = new Map<string, ReadonlySet<string> | null>();
    for (const job of jobs) named.set(job.name, await name(job));
    return named;
  } finally {
    database?.close();
  }
}

/** A target that has a checkpoint, and the last run that received something of it, or failed to. */
export interface CrawledTarget {
  target: string;
  lastRun: string;
}

/**
 * Targets that a job does not have any more. What its file lists are its targets. SQL may answer otherwise at another
 * hour (`where seen_at < now() - …`): there, those that the job's last finished round crawled are its own too, until a
 * round ends without them. Where nothing can be told (SQL that fails, no file), a round that crawled none does not count:
 * the job was left out of it. Pure.
 * @param job null where there is no file that can be read
 * @param named what the file names now; null where that cannot be told
 * @param crawled its targets
 * @param runs as of when the checkpoints were published
 */
export function listFormer(
  name: string,
  job: Job | null,
  named: ReadonlySet<string> | null,
  crawled: readonly CrawledTarget[],
  runs: readonly RunEntry[],
): Set<string> {
  const isListed = job !== null && named !== null && job.forEach?.kind !== 'sql';
  const last = crawled.reduce((last, { lastRun }) => (lastRun > last ? lastRun : last), '');
  const round = lastRound(runs, name, named === null ? last : null);
  const isOver = ({ lastRun }: CrawledTarget) => isListed || (round !== null && lastRun < round);
  return new Set(crawled.flatMap((one) => (isOver(one) && !named?.has(one.target) ? one.target : [])));
}

function openSnapshot({ folder, config, signal }: SnapshotPlace): Promise<Database> {
  const { memoryLimit, threads } = config.warehouse;
  return openForJobSql(folder.snapshot, { memoryLimit, threads, tempDir: folder.temp, signal });
}
