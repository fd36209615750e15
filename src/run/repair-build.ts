import { listArchived } from '../archive/archive-files.ts';
import { describeStart, readArchiveStart } from '../archive/archive-start.ts';
import { closeReplay, openReplay, planBatches } from '../archive/replay.ts';
import { readRemoved } from '../archive/retention.ts';
import type { DataFolder } from '../data-folder.ts';
import { StoppedEarly, UsageError } from '../errors.ts';
import { listSegments } from '../landing/segment-files.ts';
import { listSegmentsOf } from '../publish/crawl-tables.ts';
import { stillHeld } from '../publish/guards.ts';
import { publish } from '../publish/publish.ts';
import { openBuild } from '../warehouse/build.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { memoryLimits } from '../warehouse/memory.ts';
import { beginEmptyBuild, examineSnapshot, putBack, recoverBuild } from '../warehouse/recover-build.ts';
import { startLoading } from './load-stage.ts';
import { restoreTargets } from './logged-targets.ts';
import { reloadRemapped } from './reload-stage.ts';
import { listRefreshes } from './rounds.ts';
import { listAcceptedBy, readRunLog } from './run-log.ts';
import { publishOptions, type RepairContext, type Replayed, type Session } from './session.ts';

/** Whether a build holds every archived segment; it does not after a replay that was killed. */
export async function holdsArchive(build: Database, { archive }: DataFolder): Promise<boolean> {
  const settled = await listSegmentsOf(build, 'settled');
  return (await listArchived(archive)).every((segment) => settled.has(segment));
}

/**
 * Ensures that the build opens and holds every archived segment. A damaged build is set aside and rebuilt from the
 * snapshot and every segment that the snapshot lacks, archived or landed. After a kill the next session continues.
 * @param because why a build that opens is to be rebuilt; null: it is not
 * @throws StoppedEarly, UsageError, DiskError as recoverBuild
 */
export async function repairBuild(context: RepairContext, because: string | null = null): Promise<Replayed> {
  const { folder, log } = context;
  const recovery = await recoverBuild(folder, context.databaseOptions, because);
  if (recovery !== null)
    log.warn(
      { reason: recovery.reason, set_aside: recovery.setAside, base: recovery.base },
      'rebuilding the build from its base and every segment received since',
    );
  if (recovery?.base === 'nothing' && (await readRemoved(folder.archive)) !== null)
    log.warn(
      { archive: folder.archive },
      'the archive does not reach back to the first segment: rows that were last seen before are gone',
    );
  const landed = recovery === null ? [] : await listSegments(folder.landing);
  return replaySegments(context, await listArchived(folder.archive), landed);
}

/**
 * Rebuilds a build that may be whole; the former one is set aside.
 * @param fromArchive whether to begin with nothing instead of the snapshot
 * @throws UsageError, nothing changed, when there is no sound snapshot, or the archive does not reach back far enough
 */
export async function rebuild(
  context: RepairContext & Pick<Session, 'closeBuild' | 'repaired'>,
  fromArchive: boolean,
): Promise<Replayed> {
  context.closeBuild();
  const { folder, log, databaseOptions } = context;
  if (!fromArchive) {
    // Opening the folder has rebuilt it, because neither build nor snapshot was there.
    if (context.repaired !== null && context.repaired.segments > 0) return context.repaired;
    if ((await examineSnapshot(folder, databaseOptions)) !== 'sound')
      throw new UsageError(
        `the snapshot ${folder.snapshot} is missing or damaged, so the build cannot be rebuilt from it`,
        'Rebuild from the archive instead: `ledgerlake rebuild --from-archive`.',
      );
    return repairBuild(context, 'a rebuild was asked for');
  }
  const [archived, landed] = [await listArchived(folder.archive), await listSegments(folder.landing)];
  await refuseShortArchive(context, new Set([...archived, ...landed]));
  const setAside = await beginEmptyBuild(folder, databaseOptions);
  log.warn({ set_aside: setAside }, 'rebuilding the build from every segment ever received');
  try {
    return await replaySegments(context, archived, landed);
  } catch (error) {
    // After a stop the next session continues; an archive that cannot be read must not cost the former build.
    if (!(error instanceof StoppedEarly)) await putBack(folder, setAside);
    throw error;
  }
}

/** @throws UsageError when a segment that was published is neither archived nor landed any more */
async function refuseShortArchive(context: RepairContext, received: ReadonlySet<number>): Promise<void> {
  const { all } = await readPublishedSegments(context);
  const gone = [...all].filter((segment) => !received.has(segment)).sort((a, b) => a - b);
  const removed = (await readRemoved(context.folder.archive)) ?? gone.at(-1);
  if (removed === undefined) return;
  const start = await readArchiveStart(context.folder, context.databaseOptions);
  throw new UsageError(
    `the archive does not reach back to the first segment: what was received up to ${new Date(removed).toISOString()} is not in it, it has what was received ${describeStart(start)}`,
    'Nothing was changed. `ledgerlake rebuild` begins with the snapshot; a larger warehouse.keep_raw_days keeps more.',
  );
}

/**
 * Publishes the segments that the build does not hold, with all segments of the same crawls and runs. An archived
 * segment counts as held once it is settled, so that a replay that was killed continues.
 */
async function replaySegments(
  context: RepairContext,
  archived: readonly number[],
  landed: readonly number[],
): Promise<Replayed> {
  const { folder, log, databaseOptions } = context;
  const total: Replayed = { segments: 0, rows: 0, seconds: 0, refused: [] };
  if (archived.length + landed.length === 0) return total;
  const { all, settled } = await readPublishedSegments(context);
  const missing = new Set([
    ...archived.filter((segment) => !settled.has(segment)),
    ...landed.filter((segment) => !all.has(segment)),
  ]);
  if (missing.size === 0) return total;
  const withBuild: Session['withBuild'] = (work) => useBuild(context, work);
  const remapped = await reloadRemapped({ ...context, withBuild, closeBuild: () => undefined });
  if (remapped !== null) {
    total.refused = remapped.refused;
    // The reload dropped the staged rows, which are needed again.
    await (await startLoading(context)).finish();
  }
  const runs = await readRunLog(folder.runs);
  await withBuild((build) => restoreTargets(build, runs));
  const acceptedBy = listAcceptedBy(runs);
  const refreshes = listRefreshes(runs);
  const startedAt = performance.now();
  for (const batch of await planReplay(context, missing)) {
    const replay = await openReplay(folder, batch, { ...databaseOptions, memoryLimit: memoryLimits.loader });
    const { tables, refused } = await withBuild(async (build) => {
      const published = await publish(build, replay, { ...publishOptions(context), acceptedBy, refreshes });
      await settleArchived(build, batch, archived);
      return published;
    });
    for (const { seen } of Object.values(tables)) total.rows += seen;
    total.refused = total.refused.concat(refused);
    await closeReplay(folder);
    total.segments += batch.length;
    log.info({ segments: total.segments, of: missing.size, rows: total.rows }, 'replayed');
  }
  total.refused = await withBuild((build) => stillHeld(build, total.refused));
  total.seconds = Math.round(performance.now() - startedAt) / 1000;
  const { segments, rows, seconds, refused } = total;
  log.warn(
    { segments, rows, seconds, rows_per_s: Math.round(rows / seconds), refused: refused.length },
    'the build holds every segment again',
  );
  return total;
}

/** Marks archived segments as settled: the later crawl that replaced one of theirs may be in another batch. */
async function settleArchived(
  build: Database,
  batch: readonly number[],
  archived: readonly number[],
): Promise<void> {
  const isArchived = new Set(archived);
  const segments = batch.filter((segment) => isArchived.has(segment)).map(String);
  await build.run(
    'update meta.segments set settled = true where not settled and segment::varchar in (select unnest($segments::varchar[]))',
    { segments },
  );
}

function readPublishedSegments(context: RepairContext) {
  return useBuild(context, async (build) => ({
    all: await listSegmentsOf(build, 'applied'),
    settled: await listSegmentsOf(build, 'settled'),
  }));
}

async function useBuild<T>(
  { folder, databaseOptions }: RepairContext,
  work: (build: Database) => Promise<T>,
): Promise<T> {
  const build = await openBuild(folder, databaseOptions);
  try {
    return await work(build);
  } finally {
    build.close();
  }
}

async function planReplay(
  { folder, databaseOptions }: RepairContext,
  missing: ReadonlySet<number>,
): Promise<number[][]> {
  const database = await openDatabase(':memory:', databaseOptions);
  try {
    const batches = await planBatches(database, folder);
    return batches.filter((batch) => batch.some((segment) => missing.has(segment)));
  } finally {
    database.close();
  }
}
