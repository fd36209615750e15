import { findNewestSegment } from '../archive/retention.ts';
import { UsageError } from '../errors.ts';
import { isEnded, type LandedCrawl, readLanding } from '../landing/reader.ts';
import { createLandingLog } from '../landing/writer.ts';
import { type Accepted, acceptOf, type GuardName, guards } from '../publish/accepted.ts';
import type { Session } from './session.ts';

/** A refusal that a user may accept (`meta.held`). */
interface Held {
  task: string;
  crawl: string;
  target: string;
  guard: GuardName;
  accept: string;
  column_name: string | null;
}

/**
 * Records in the landing log which crawls of earlier runs this run accepts: those that a guard refused, and those not yet
 * published. They are then published as this run's, now and in a replay, and are not crawled again.
 * @param mustFind whether a value that matches no such crawl is a mistake: a run may accept what it is about to receive
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
  const lastPublished = new Map(complete.map(({ task, crawl }) => [task, crawl]));
  const landed = [...(await readLanding(folder.landing)).values()];
  const accepted = landed.filter((crawl) => {
    if (!isEnded(crawl) || crawl.failed !== null) return false;
    const refusals = held.filter(({ task, crawl: name }) => task === crawl.task && name === crawl.crawl);
    if (refusals.length > 0)
      return refusals.some((refusal) => letsPass(accept[acceptOf(refusal.guard)], refusal));
    const isUnpublished = crawl.crawl > (lastPublished.get(crawl.task) ?? '');
    return isUnpublished && guards.some((guard) => accept[guard].some((value) => mayName(value, crawl)));
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

/** Whether a value may name a crawl that no guard has seen yet: only the guard knows the columns. */
function mayName(value: string, { job }: LandedCrawl): boolean {
  return value === job || value.startsWith(`${job}/`);
}

/** @throws UsageError for a value that matches no accepted crawl */
function requireFound(accept: Accepted, accepted: readonly LandedCrawl[], held: readonly Held[]): void {
  for (const guard of guards)
    for (const value of accept[guard]) {
      const isHeld = held.some((refusal) => acceptOf(refusal.guard) === guard && letsPass([value], refusal));
      if (isHeld || accepted.some((crawl) => mayName(value, crawl))) continue;
      const options = held.map((refusal) => `--accept-${acceptOf(refusal.guard)} ${refusal.accept}`);
      throw new UsageError(
        `--accept-${guard} ${value}: no received data waits for it`,
        options.length === 0
          ? 'No guard holds anything back.'
          : `What waits: ${[...new Set(options)].slice(0, 5).join(', ')}.`,
      );
    }
}
