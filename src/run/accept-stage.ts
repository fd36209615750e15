import { findNewestSegment } from '../archive/retention.ts';
import { UsageError } from '../errors.ts';
import { isEnded, type LandedCrawl, readLanding } from '../landing/reader.ts';
import { createLandingLog } from '../landing/writer.ts';
import { type Accepted, acceptOf, type GuardName, guards } from '../publish/accepted.ts';
import type { Session } from './session.ts';

/** A refusal that waits for somebody's word (`meta.held`). */
interface Held {
  task: string;
  crawl: string;
  target: string;
  guard: GuardName;
  accept: string;
  column_name: string | null;
}

/**
 * Notes in the landing log which crawls of earlier runs this run is to publish with what it accepts: those that a guard
 * refused, and those that nothing has published yet. They are then published as this run's, now and in a replay, and are
 * not crawled again.
 * @param mustFind whether a value that no such crawl has is a mistake: a run may accept what it is about to receive
 * @throws UsageError
 */
export async function acceptReceived(session: Session, accept: Accepted, mustFind: boolean): Promise<void> {
  if (guards.every((guard) => accept[guard].length === 0)) return;
  const { folder, run, log } = session;
  const { held, complete } = await session.withBuild(async (build) => ({
    held: await build.rows<Held>('select task, crawl, target, guard, accept, column_name from meta.held'),
    complete: await build.rows<{ task: string; crawl: string }>(
      `select task, max(crawl) as crawl from meta.checkpoints where state = 'complete' group by task`,
    ),
  }));
  const done = new Map(complete.map(({ task, crawl }) => [task, crawl]));
  const landed = [...(await readLanding(folder.landing)).values()];
  const accepted = landed.filter((crawl) => {
    if (!isEnded(crawl) || crawl.failed !== null) return false;
    const own = held.filter((one) => one.task === crawl.task && one.crawl === crawl.crawl);
    if (own.length > 0) return own.some((one) => letsPass(accept[acceptOf(one.guard)], one));
    const isWaiting = crawl.crawl > (done.get(crawl.task) ?? '');
    return isWaiting && guards.some((guard) => accept[guard].some((value) => isOf(value, crawl)));
  });
  if (mustFind) requireFound(accept, accepted, held);
  if (accepted.length === 0) return;
  const landing = createLandingLog({ dir: folder.landing, highestNumber: await findNewestSegment(folder) });
  const accepted_at = new Date().toISOString();
  for (const { task, crawl, job, target, operation, shape } of accepted)
    await landing.appendAccepted({
      ...{ kind: 'accepted', task, crawl, run, job, target, operation, shape },
      accepted_at,
    });
  await landing.close();
  log.info({ crawls: accepted.length }, 'accepted crawls that earlier runs received');
}

/** Whether a value of an option names a refusal, its job, or its target. */
function letsPass(values: readonly string[], { accept, target, column_name }: Held): boolean {
  const [job = ''] = accept.split('/');
  return [accept, job, `${job}/${target}`, `${job}/${column_name}`].some((value) => values.includes(value));
}

/** Whether a value names a crawl that nothing has looked at yet: columns are only known to the guard. */
function isOf(value: string, { job }: LandedCrawl): boolean {
  return value === job || value.startsWith(`${job}/`);
}

/** @throws UsageError for a value that names no crawl that waits */
function requireFound(accept: Accepted, accepted: readonly LandedCrawl[], held: readonly Held[]): void {
  for (const guard of guards)
    for (const value of accept[guard]) {
      const isHeld = held.some((one) => acceptOf(one.guard) === guard && letsPass([value], one));
      if (isHeld || accepted.some((crawl) => isOf(value, crawl))) continue;
      const waiting = held.map((one) => `--accept-${acceptOf(one.guard)} ${one.accept}`);
      throw new UsageError(
        `--accept-${guard} ${value}: no received data waits for it`,
        waiting.length === 0
          ? 'No guard holds anything back.'
          : `What waits: ${[...new Set(waiting)].slice(0, 5).join(', ')}.`,
      );
    }
}
