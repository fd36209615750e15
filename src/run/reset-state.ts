import { findNewestSegment } from '../archive/retention.ts';
import { UsageError } from '../errors.ts';
import { isEnded, type LandedCrawl, readLanding } from '../landing/reader.ts';
import { createLandingLog } from '../landing/writer.ts';
import { appendRunLog, type RunEntry } from './run-log.ts';
import type { Session } from './session.ts';

/** What a reset of one job, or `job/target`, forgets. */
export interface Reset {
  /** Targets that were completed or begun. */
  targets: number;
  /** Crawls that will not be resumed. */
  open: number;
}

/** Whether a later reset forgot what a run left of a target. */
export type IsForgotten = (of: { job: string; target: string }, run: string) => boolean;

/** Sorts behind every run. */
const afterAllRuns = '~';

/**
 * Reads from the run log what was reset, and when. Pure.
 * @param asReset jobs to treat as reset, too
 */
export function readResets(runs: readonly RunEntry[], asReset: readonly string[] = []): IsForgotten {
  const last = new Map<string, string>();
  for (const { run, reset = [] } of runs) for (const name of reset) last.set(name, run);
  for (const name of asReset) last.set(name, afterAllRuns);
  const since = (name: string) => last.get(name) ?? '';
  return ({ job, target }, run) => run < since(job) || run < since(`${job}/${target}`);
}

/** Finds what a reset would forget. @throws UsageError for a name that nothing was crawled of */
export async function findReset(session: Session, name: string): Promise<Reset> {
  const published = await session.withBuild((build) =>
    build.rows<{ target: string }>(
      `select distinct target from meta.checkpoints where $name in (job, job || '/' || target)`,
      { name },
    ),
  );
  const landed = await readNamed(session, [name]);
  const targets = new Set([...published, ...landed].map(({ target }) => target));
  if (targets.size === 0)
    throw new UsageError(
      `nothing is known of ${name}`,
      'Name a job, or job/target, as `ledgerlake status` and `ledgerlake status <job>` list them.',
    );
  return { targets: targets.size, open: landed.filter(isOpen).length };
}

/**
 * Ends the open crawls, and records in the run log that what was complete is to be crawled anew. The checkpoints stay,
 * because publishing and rebuilds read from them what is in the tables.
 */
export async function resetState(session: Session, names: readonly string[]): Promise<void> {
  await endOpenCrawls(session, names);
  await appendRunLog(session.folder.runs, { run: session.run, reset: [...names] });
}

async function endOpenCrawls(session: Session, names: readonly string[]): Promise<void> {
  const open = (await readNamed(session, names)).filter(isOpen);
  if (open.length === 0) return;
  const { landing: dir } = session.folder;
  const landing = createLandingLog({ dir, highestNumber: await findNewestSegment(session.folder) });
  try {
    for (const { task, crawl, job, target, operation, shape, first } of open)
      await landing.appendFailure({
        ...{ kind: 'failed', task, crawl, run: session.run, job, target, operation, shape },
        ...{ range: first?.range ?? null, reason: 'forgotten, to be crawled anew' },
        failed_at: new Date().toISOString(),
      });
  } finally {
    await landing.close();
  }
}

async function readNamed({ folder }: Session, names: readonly string[]): Promise<LandedCrawl[]> {
  const landed = await readLanding(folder.landing);
  return [...landed.values()].filter(
    ({ job, target }) => names.includes(job) || names.includes(`${job}/${target}`),
  );
}

function isOpen(crawl: LandedCrawl): boolean {
  return crawl.failed === null && !isEnded(crawl);
}
