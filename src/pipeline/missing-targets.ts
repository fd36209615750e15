import type { Config } from '../config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job-file.ts';
import { sqlPlace } from '../jobs/target-checks.ts';
import { resolveTargets } from '../jobs/targets.ts';
import type { Database } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import { targetKey } from './plan-starts.ts';

/** Where a snapshot is that jobs ask, and what interrupts their SQL. */
interface SnapshotPlace {
  folder: DataFolder;
  config: Config;
  signal: AbortSignal | undefined;
}

/**
 * How many targets of each job have no checkpoint; null where they cannot be told: they come from tables that were
 * never published, or the file has a mistake that `jobs check` tells. Jobs over ids have none.
 * @param place of the snapshot, for the SQL of jobs; null: there is none
 */
export async function countMissing(
  jobs: readonly Job[],
  known: ReadonlySet<string>,
  place: SnapshotPlace | null,
): Promise<Map<string, number | null>> {
  const asksTables = jobs.some(({ forEach }) => forEach?.kind === 'sql');
  const database = place !== null && asksTables ? await openSnapshot(place) : null;
  const count = async (job: Job): Promise<number | null> => {
    try {
      const targets = await resolveTargets(job, (sql) => {
        if (database === null) throw new UsageError('no snapshot', 'Run `ledgerlake run` first.');
        return runJobSql(database, sqlPlace(job), sql);
      });
      return targets.filter(({ name }) => !known.has(targetKey({ job: job.name, target: name }))).length;
    } catch (error) {
      if (error instanceof UsageError) return null;
      throw error;
    }
  };
  try {
    const missing = new Map<string, number | null>();
    for (const job of jobs.filter(({ operation }) => operation.paging !== 'batch'))
      missing.set(job.name, await count(job));
    return missing;
  } finally {
    database?.close();
  }
}

function openSnapshot({ folder, config, signal }: SnapshotPlace): Promise<Database> {
  const { memoryLimit, threads } = config.warehouse;
  const options = { memoryLimit, threads, tempDir: folder.temp, signal };
  return openForJobSql({ ...folder, build: folder.snapshot }, options);
}
