import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import type { Job } from '../jobs/job.ts';
import { locateSql } from '../jobs/target-checks.ts';
import { resolveTargets, type Target } from '../jobs/targets.ts';
import { exists } from '../landing/segment-files.ts';
import { operationsOf } from '../publish/follow-rows.ts';
import type { Database } from '../warehouse/database.ts';
import { openForJobSql, runJobSql } from '../warehouse/job-sql.ts';
import { lastRound } from './rounds.ts';
import type { RunEntry } from './run-log.ts';

/** A job and its current targets. */
export interface ReadTargets {
  job: Job;
  targets: readonly Target[];
}

/**
 * Records the current targets of jobs in the build (`meta.targets`), and removes jobs whose files are gone. Jobs that a run
 * did not read keep the targets that their last run found. Rows that are unchanged are not written again.
 */
export async function recordTargets(build: Database, all: readonly ReadTargets[]): Promise<void> {
  // Built-in jobs have no file, and follow nothing.
  const read = all.filter(({ job }) => job.file !== '');
  const [first] = read;
  if (first === undefined) return;
  const dir = dirname(resolve(first.job.file));
  const recorded = await build.rows<{ job: string; file: string }>('select job, file from meta.jobs');
  const fileExists = async (file: string) =>
    (await exists(file)) || (await exists(join(dir, basename(file))));
  const gone: string[] = [];
  for (const { job, file } of recorded) if (!(await fileExists(file))) gone.push(job);
  // A rebuild without the run log knows no targets of these jobs until they are crawled again.
  const crawled = await build.rows<{ job: string }>(
    `select distinct job from meta.checkpoints where job not in (select job from meta.jobs)`,
  );
  const unread: string[] = [];
  for (const { job } of crawled) if (await exists(join(dir, `${job}.yaml`))) unread.push(job);
  await build.transaction(async () => {
    for (const table of ['jobs', 'targets'])
      await build.run(`delete from meta.${table} where job in (select unnest($gone::varchar[]))`, { gone });
    for (const job of unread)
      await build.run('insert into meta.jobs values ($job, $file, false, false)', {
        job,
        file: join(dir, `${job}.yaml`),
      });
    for (const jobTargets of read) await recordJob(build, jobTargets);
  });
}

/** Names handed to DuckDB in one statement: as a parameter, each takes a hundred times its length. */
const namesAtOnce = 10_000;

async function recordJob(build: Database, { job, targets }: ReadTargets): Promise<void> {
  const follows = operationsOf().includes(job.operation.name);
  const entry = { job: job.name, file: resolve(job.file), follows };
  await build.run(
    'delete from meta.jobs where job = $job and (file <> $file or follows <> $follows or not is_read)',
    entry,
  );
  await build.run(
    `insert into meta.jobs select $job, $file, $follows, true
    where not exists (from meta.jobs where job = $job)`,
    entry,
  );
  await build.run('create or replace temp table read_target (target varchar)');
  for (let first = 0; first < targets.length; first += namesAtOnce)
    await build.run('insert into read_target select unnest($names::varchar[])', {
      names: targets.slice(first, first + namesAtOnce).map(({ name }) => name),
    });
  await build.run(
    'delete from meta.targets where job = $job and target not in (select target from read_target)',
    { job: job.name },
  );
  await build.run(
    `insert into meta.targets select $job, target from read_target
    where target not in (select target from meta.targets where job = $job)`,
    { job: job.name },
  );
}

/** The snapshot that the SQL of jobs reads, and what interrupts it. */
interface SnapshotAccess {
  folder: DataFolder;
  config: Config;
  signal: AbortSignal | undefined;
}

/**
 * The targets that the file of each job names now; null where they are unknown, because they come from tables that were
 * never published, or the file has a mistake that `jobs check` reports.
 * @param snapshot for the SQL of jobs; null: there is none
 */
export async function nameTargets(
  jobs: readonly Job[],
  snapshot: SnapshotAccess | null,
): Promise<Map<string, ReadonlySet<string> | null>> {
  const needsTables = jobs.some(({ forEach }) => forEach?.kind === 'sql');
  const database = snapshot !== null && needsTables ? await openSnapshot(snapshot) : null;
  const name = async (job: Job): Promise<ReadonlySet<string> | null> => {
    try {
      const query = (sql: string) => {
        if (database === null) throw new UsageError('no snapshot', 'Run `ledgerlake run` first.');
        return runJobSql(database, locateSql(job), sql);
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

/** A target that has a checkpoint, and the last run that received pages of it or failed to. */
export interface CrawledTarget {
  target: string;
  lastRun: string;
}

/**
 * Lists the targets that a job no longer has. A list in its file is exact. SQL may return other rows at another hour
 * (`where seen_at < now() - …`), so there the targets that the job's last finished round crawled stay its own until a
 * round ends without them. Where the targets are unknown (SQL that fails, no file), a round that crawled none does not
 * count, because the job was left out of it. Pure.
 * @param job null where no file can be read
 * @param named what the file names now; null where unknown
 * @param crawled the job's targets with a checkpoint
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
  const lastCrawled = crawled.reduce((last, { lastRun }) => (lastRun > last ? lastRun : last), '');
  const round = lastRound(runs, name, named === null ? lastCrawled : null);
  const isOver = ({ lastRun }: CrawledTarget) => isListed || (round !== null && lastRun < round);
  const former = crawled.filter((crawl) => isOver(crawl) && !named?.has(crawl.target));
  return new Set(former.map(({ target }) => target));
}

function openSnapshot({ folder, config, signal }: SnapshotAccess): Promise<Database> {
  const { memoryLimit, threads } = config.warehouse;
  return openForJobSql(folder.snapshot, { memoryLimit, threads, tempDir: folder.temp, signal });
}
