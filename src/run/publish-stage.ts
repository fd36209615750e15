import { archiveSegments, removeLanded } from '../archive/archive.ts';
import { listSegments } from '../landing/segment-files.ts';
import { removeDamagedStaging } from '../load/load.ts';
import { type Accepted, nothingAccepted } from '../publish/accepted.ts';
import { followRows } from '../publish/follow-rows.ts';
import { publish, readSegments } from '../publish/publish.ts';
import { publishRuns } from '../publish/publish-runs.ts';
import type { Published } from '../publish/published.ts';
import { compactTables } from '../warehouse/compact-tables.ts';
import { openDatabase } from '../warehouse/database.ts';
import { openForJobSql } from '../warehouse/job-sql.ts';
import {
  type AuditFinding,
  checkOwnSql,
  isError,
  replaceOwnViews,
  runAudits,
} from '../warehouse/own-views.ts';
import { replaceSnapshot } from '../warehouse/snapshot.ts';
import { acceptReceived } from './accept-stage.ts';
import { type LoadStage, startLoading } from './load-stage.ts';
import type { NextSnapshot } from './next-snapshot.ts';
import { reloadRemapped } from './reload-stage.ts';
import { findExpired, removeExpired, thinCheckpoints, thinHistory } from './retention-stage.ts';
import { readAcceptedBy, readRunLog } from './run-log.ts';
import { publishOptions, type Session } from './session.ts';

/** Applies everything staged to the tables. Damaged staged files are derived again first. */
export async function publishStage(session: Session): Promise<Published> {
  const { folder } = session;
  const damaged = await removeDamagedStaging(folder);
  if (damaged.length > 0) {
    session.log.warn({ segments: damaged }, 'rebuilding staged files that are damaged or of another version');
    await loadWaiting(session);
  }
  const publishing = { ...publishOptions(session), acceptedBy: await readAcceptedBy(folder.runs) };
  const result = await session.withBuild((build) => publish(build, folder, publishing));
  const tables = Object.fromEntries(
    Object.entries(result.tables).filter(([, counts]) => counts.seen + counts.gone > 0),
  );
  session.log.info({ crawls: result.crawls, refused: result.refused.length, tables }, 'published');
  return result;
}

/** Loads what waits. The build is read for it, which may turn out to be damaged. */
export function loadWaiting(session: Session): Promise<Awaited<ReturnType<LoadStage['finish']>>> {
  return session.repairing(async () => (await startLoading(session)).finish());
}

/**
 * What verbs that ask the API nothing end with: makes again what another mapping made, loads what waits, publishes it,
 * replaces the snapshot.
 * @param refused crawls that the verb found refused before
 * @param accept what the guards let pass of what earlier runs received
 * @returns with those, and the exit code they make
 */
export async function publishLoaded(
  session: Session,
  refused: Published['refused'] = [],
  accept: Accepted = nothingAccepted,
): Promise<{ published: Published; exitCode: number }> {
  const remapped = await reloadRemapped(session);
  await acceptReceived(session, accept, true);
  await loadWaiting(session);
  const published = await publishStage(session);
  published.refused = [...refused, ...(remapped?.refused ?? []), ...published.refused];
  const exitCode = published.refused.length > 0 ? 4 : 0;
  published.audits = await snapshotStage(session, { exitCode, stoppedBy: null });
  return { published, exitCode: published.audits.some(isError) ? 4 : exitCode };
}

/**
 * Notes the run in `meta`, replaces the readers' snapshot and archives the segments that it holds and nothing waits for,
 * which then leave the landing log, and removes what is older than `warehouse.keep_raw_days` and not needed.
 * @param next the copy that it begins with
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
  // Together, because a build that turns out to be damaged as it is copied is rebuilt without these rows.
  const { settled, segments, setAside } = await session.repairing(async () => {
    const settled = await session.withBuild(async (build) => {
      await publishRuns(build, folder, runs);
      await followRows(build);
      await thinCheckpoints(build, session);
      await thinHistory(build, session);
      await compactTables(build);
      return readSegments(build, 'from meta.segments where settled');
    });
    session.closeBuild();
    const segments = (await listSegments(folder.landing)).filter((segment) => settled.has(segment));
    const begun = (await next?.take()) ?? null;
    const { fileMode } = session.config.warehouse;
    // Side by side: the one copies blocks, the other keeps DuckDB busy with text.
    const [setAside] = await bothDone(
      replaceSnapshot(folder, fileMode, session.databaseOptions, begun),
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

/** What both give; where one fails, only after the other has ended too. */
async function bothDone<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([one, other]);
  return Promise.all([one, other]);
}

/**
 * Before the snapshot is replaced: runs the audits of the project on what is to be published, with its views, and puts the
 * views into the build. A verb that sees no folder of jobs leaves the views as they are, and runs no audit.
 * @returns audits that returned rows; none of `error` severity may be published
 * @throws UsageError naming a file whose SQL the tables do not answer
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
