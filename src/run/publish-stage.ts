import { archiveSegments, removeLanded } from '../archive/archive.ts';
import type { DataFolder } from '../data-folder.ts';
import { listSegments } from '../landing/segment-files.ts';
import { removeDamagedStaging } from '../load/staged-segments.ts';
import { listSegmentsOf } from '../publish/crawl-tables.ts';
import { followRows } from '../publish/follow-rows.ts';
import { publish } from '../publish/publish.ts';
import { publishRuns } from '../publish/publish-runs.ts';
import { isHeldBack, type Published } from '../publish/published.ts';
import { compactTables } from '../warehouse/compact-tables.ts';
import { openDatabase } from '../warehouse/database.ts';
import type { BlockDigests } from '../warehouse/database-blocks.ts';
import { openForJobSql } from '../warehouse/job-sql.ts';
import {
  type AuditFinding,
  checkOwnSql,
  isError,
  replaceOwnViews,
  runAudits,
} from '../warehouse/own-views.ts';
import { beginSnapshot, removeDraft, replaceSnapshot } from '../warehouse/snapshot.ts';
import { acceptRefusals } from './accept-stage.ts';
import { type LoadStage, startLoading } from './load-stage.ts';
import { reloadRemapped } from './reload-stage.ts';
import { findExpired, removeExpired, thinCheckpoints, thinHistory } from './retention-stage.ts';
import { listRefreshes } from './rounds.ts';
import { listAcceptedBy, readRunLog } from './run-log.ts';
import { publishOptions, type Session } from './session.ts';

/** Applies everything staged to the tables, after rebuilding staged files that are damaged. */
export async function publishStage(session: Session): Promise<Published> {
  const { folder } = session;
  const damaged = await removeDamagedStaging(folder);
  if (damaged.length > 0) {
    session.log.warn({ segments: damaged }, 'rebuilding staged files that are damaged or of another version');
    await loadWaiting(session);
  }
  const runs = await readRunLog(folder.runs);
  const publishing = {
    ...publishOptions(session),
    acceptedBy: listAcceptedBy(runs),
    refreshes: listRefreshes(runs),
  };
  const result = await session.withBuild((build) => publish(build, folder, publishing));
  const tables = Object.fromEntries(
    Object.entries(result.tables).filter(([, counts]) => counts.seen + counts.gone > 0),
  );
  session.log.info({ crawls: result.crawls, refused: result.refused.length, tables }, 'published');
  return result;
}

/** Loads the segments that are not loaded yet, and repairs the build where reading it shows damage. */
export function loadWaiting(session: Session): Promise<Awaited<ReturnType<LoadStage['finish']>>> {
  return session.repairing(async () => (await startLoading(session)).finish());
}

/**
 * The end of every verb that sends no request: rebuilds rows of a former mapping, loads, publishes, replaces the snapshot.
 * @param refused crawls that the verb found refused before; they are added to the result
 * @param accept ids of refusals to accept
 * @throws UsageError for an id of which nothing waits
 */
export async function publishLoaded(
  session: Session,
  refused: Published['refused'] = [],
  accept: readonly string[] = [],
): Promise<{ published: Published; exitCode: number }> {
  const remapped = await reloadRemapped(session);
  await acceptRefusals(session, accept);
  await loadWaiting(session);
  const published = await publishStage(session);
  published.refused = [...refused, ...(remapped?.refused ?? []), ...published.refused];
  const exitCode = isHeldBack(published) ? 4 : 0;
  published.audits = await snapshotStage(session, { exitCode, stoppedBy: null });
  return { published, exitCode: isHeldBack(published) ? 4 : 0 };
}

/**
 * Records the run in `meta`, replaces the snapshot, and archives the settled segments, which then leave the landing log.
 * Removes what is older than `warehouse.keep_raw_days` and not needed.
 * @param next a copy that the new snapshot begins with
 * @returns audits of the project that returned rows; where one is an error, the snapshot stays and nothing is archived
 */
export async function snapshotStage(
  session: Session,
  outcome: { exitCode: number; stoppedBy: string | null },
  next?: NextSnapshot,
): Promise<AuditFinding[]> {
  const { folder, log } = session;
  const audits = await session.repairing(() => ownSqlStage(session));
  if (audits.some(isError)) return audits;
  const runs = (await readRunLog(folder.runs)).map((entry) =>
    entry.run === session.run
      ? {
          ...entry,
          finishedAt: new Date().toISOString(),
          exitCode: outcome.exitCode,
          stoppedBy: outcome.stoppedBy,
        }
      : entry,
  );
  // In one `repairing`: a build that turns out to be damaged as it is copied is rebuilt without these rows.
  const { settled, segments, setAside } = await session.repairing(async () => {
    const settled = await session.withBuild(async (build) => {
      await publishRuns(build, folder, runs);
      await followRows(build);
      await thinCheckpoints(build, session);
      await thinHistory(build, session);
      await compactTables(build);
      return listSegmentsOf(build, 'settled');
    });
    session.closeBuild();
    const segments = (await listSegments(folder.landing)).filter((segment) => settled.has(segment));
    const copy = (await next?.take()) ?? null;
    const { fileMode } = session.config.warehouse;
    // Side by side, because one copies blocks while the other keeps DuckDB busy with text.
    const [setAside] = await bothDone(
      replaceSnapshot(folder, fileMode, session.databaseOptions, copy),
      archive(session, segments),
    );
    return { settled, segments, setAside };
  });
  for (const file of setAside)
    log.warn(
      { file },
      'the snapshot was opened for writing: its write-ahead log was set aside; open it read-only',
    );
  await removeLanded(folder, segments);
  await removeExpired(session, await findExpired(session, settled));
  return audits;
}

async function archive(session: Session, segments: readonly number[]): Promise<void> {
  if (segments.length === 0) return;
  const database = await openDatabase(':memory:', session.databaseOptions);
  try {
    await archiveSegments(database, session.folder, segments);
  } finally {
    database.close();
  }
  session.log.debug({ segments: segments.length }, 'archived');
}

/** As `Promise.all`, but a failure waits until the other has ended too. */
async function bothDone<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

/**
 * Runs the audits of the project, with its views, on the build that is to become the snapshot, and puts the views into
 * it. A verb without a folder of jobs runs no audit and leaves the views as they are.
 * @returns audits that returned rows; with one of `error` severity the build must not become the snapshot
 * @throws UsageError naming a file whose SQL does not fit the tables
 */
export async function ownSqlStage(session: Session): Promise<AuditFinding[]> {
  const { ownSql, folder, databaseOptions, log } = session;
  if (ownSql === null) return [];
  const { views, audits } = ownSql;
  let ordered: typeof views = [];
  let findings: AuditFinding[] = [];
  if (views.length + audits.length > 0) {
    session.closeBuild();
    const reader = await openForJobSql(folder.build, databaseOptions);
    try {
      ordered = await checkOwnSql(reader, views, audits);
      findings = await runAudits(reader, audits);
    } finally {
      reader.close();
    }
  }
  for (const { audit, severity, rows } of findings)
    log.warn({ audit, severity, rows }, 'an audit of the project returned rows');
  if (!findings.some(isError)) await session.withBuild((build) => replaceOwnViews(build, ordered));
  return findings;
}

/** The copy of the snapshot that the next one begins with, made while the crawl runs. */
export interface NextSnapshot {
  /** Begins the copy, once. */
  begin(): void;
  /** Waits for the copy and hands it over, once; the taker removes it on failure. Null where nothing was copied. */
  take(): Promise<BlockDigests | null>;
  /** Stops the copy, and removes it unless it was taken. */
  drop(): Promise<void>;
}

/** @param stopping stops the copy too, because the time to drain is for what was crawled */
export function createNextSnapshot(folder: DataFolder, stopping: AbortSignal): NextSnapshot {
  const drop = new AbortController();
  let copying: Promise<BlockDigests | null> | null = null;
  return {
    begin() {
      copying ??= beginSnapshot(folder, AbortSignal.any([stopping, drop.signal]));
    },
    async take() {
      const copy = copying;
      copying = Promise.resolve(null);
      return copy;
    },
    async drop() {
      drop.abort();
      // The next run removes what cannot be removed now: how this run ended matters more.
      if ((await copying) !== null) await removeDraft(folder).catch(() => undefined);
    },
  };
}
