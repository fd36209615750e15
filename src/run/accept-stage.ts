import { findNewestSegment } from '../archive/retention.ts';
import { UsageError } from '../errors.ts';
import { crawlKey, type LandedCrawl, readLanding } from '../landing/reader.ts';
import { createLandingLog } from '../landing/writer.ts';
import { readSql } from '../sql-text.ts';
import { listDropped } from './dropped-targets.ts';
import { resetState } from './reset-state.ts';
import { appendRunLog, listAcceptedBy, readRunLog } from './run-log.ts';
import type { Session } from './session.ts';

/** A refusal of one crawl (`meta.refusals`). */
interface Refused {
  id: string;
  task: string;
  crawl: string;
  guard: string;
  for_job: string;
  column_name: string | null;
  reason: string;
  /** Whether it waits (`meta.held`). */
  held: boolean;
}

/**
 * Records that this run accepts refusals. The landing log gets the crawls and the guards' findings, so that they are published as
 * this run's, now and in a replay, and are not crawled again. The run log gets the ids. An id that was accepted before, and of
 * which nothing waits, accepts nothing.
 * @throws UsageError for an id of which nothing waits, naming the refusals that took its place
 */
export async function acceptRefusals(session: Session, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { folder, run, log } = session;
  const runs = await readRunLog(folder.runs);
  const before = listAcceptedBy(runs);
  const refused = await session.withBuild((build) =>
    build.rows<Refused>(readSql('publish/named-refusals.sql'), { ids }),
  );
  const waiting = refused.filter(({ held }) => held);
  const all = await session.withBuild((build) => listDropped(build, runs, null));
  const dropped = all.filter(({ id }) => ids.includes(id));
  for (const id of ids)
    if (!before.has(id) && ![...waiting, ...dropped].some((one) => one.id === id))
      throw await describeMissing(session, id, refused);
  if (waiting.length + dropped.length === 0) return;
  await appendFindings(session, waiting);
  // Where the target comes back, it is crawled from the start.
  const names = dropped.flatMap(({ job, targets }) => targets.map((target) => `${job}/${target}`));
  if (names.length > 0) await resetState(session, names);
  const accepted = [...new Set([...waiting, ...dropped].map(({ id }) => id))];
  await appendRunLog(folder.runs, { run, accepted });
  log.info({ accepted }, 'accepted what was refused or dropped');
}

/** Adds a line for each finding to the landing log. A slot that was too far ahead gets none, because its crawl has failed. */
async function appendFindings({ folder, run }: Session, waiting: readonly Refused[]): Promise<void> {
  const findings = waiting.filter(({ guard }) => guard !== 'ahead');
  if (findings.length === 0) return;
  const landed = await readLanding(folder.landing);
  const landing = createLandingLog({ dir: folder.landing, highestNumber: await findNewestSegment(folder) });
  const accepted_at = new Date().toISOString();
  for (const { guard, for_job, column_name, ...refused } of findings) {
    const { task, crawl, job, target, operation, shape } = landed.get(crawlKey(refused)) as LandedCrawl;
    await landing.appendAccepted({
      ...{ kind: 'accepted', task, crawl, run, job, target, operation, shape, accepted_at },
      finding: { guard, for_job, column_name },
    });
  }
  await landing.close();
}

/** Explains why an id cannot be accepted: a later crawl replaced the refused one, or there is no such refusal. */
async function describeMissing(
  session: Session,
  id: string,
  refused: readonly Refused[],
): Promise<UsageError> {
  const named = refused.find((refusal) => refusal.id === id);
  const all = await session.withBuild((build) =>
    build.rows<{ id: string; for_job: string; reason: string }>(readSql('status/held.sql'), { job: null }),
  );
  const held = all.filter(({ for_job }) => named === undefined || for_job === named.for_job);
  return new UsageError(
    named === undefined
      ? `--accept ${id}: there is no such refusal`
      : `--accept ${id}: a later crawl took the place of the one that it refused (${named.reason})`,
    held.length === 0
      ? `Nothing ${named === undefined ? '' : `of ${named.for_job} `}is refused now.`
      : `What waits now: ${held
          .slice(0, 5)
          .map((one) => `--accept ${one.id} (${one.reason})`)
          .join('; ')}.`,
  );
}
