import { listArchived } from '../archive/archive-files.ts';
import { findNeededRecords, type NeededRecords } from '../archive/needed-records.ts';
import { type Reloaded, reload } from '../archive/reload.ts';
import { closeReplay, openReplay, planBatches } from '../archive/replay.ts';
import { UsageError } from '../errors.ts';
import { listSegments } from '../landing/segment-files.ts';
import { listStaged, removeStaged } from '../load/staged-segments.ts';
import { addPublished, nothingPublished, type Published } from '../publish/published.ts';
import { forgetTextsSql } from '../publish/text-sql.ts';
import { type Database, openDatabase } from '../warehouse/database.ts';
import { listRemapped, recordMapping } from '../warehouse/mapping.ts';
import { memoryLimits } from '../warehouse/memory.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { publishOptions, type RepairContext, type Session } from './session.ts';

/** The result of a reload. */
export interface ReloadReport extends Reloaded {
  segments: number;
  /** Published segments that are neither archived nor landed any more: their rows stay as they are. */
  gone: number;
}

/** The part of a session that a reload needs. */
type Context = RepairContext & Pick<Session, 'withBuild' | 'closeBuild'>;

/**
 * Rebuilds the rows of some tables.
 * @param tables all when empty; tables of the same shapes are reloaded too
 * @throws UsageError for an unknown table
 */
export function reloadTables(session: Context, tables: readonly string[]): Promise<ReloadReport> {
  return reloadShapes(session, listShapes(tables));
}

/**
 * Rebuilds rows that a former mapping made, before the crawl. New answers would otherwise be compared with rows of the
 * former mapping: each difference would become a version, and an incremental crawl would recognise no row and crawl the
 * whole list.
 */
export async function reloadRemapped(session: Context): Promise<ReloadReport | null> {
  const shapes = await session.withBuild(listRemapped);
  if (shapes.length === 0) return null;
  session.log.warn({ shapes }, 'the mapping in sql/ has changed: rebuilding its rows first');
  return reloadShapes(session, new Set(shapes));
}

/**
 * Reloads some published crawls, with the others of their batches. The mapping is unchanged, so known texts stay known.
 * @param tables the tables of their rows
 * @param crawls `task/crawl` of each
 * @returns `missing`: crawls without a page that is kept
 */
export async function reloadCrawls(
  session: Context,
  tables: readonly string[],
  crawls: ReadonlySet<string>,
): Promise<{ report: ReloadReport; missing: ReadonlySet<string> }> {
  const report: ReloadReport = { ...nothingPublished(), segments: 0, gone: 0, amended: {} };
  if (crawls.size === 0) return { report, missing: new Set() };
  const { batches, segmentsOf } = await readBatches(session);
  const segments = new Set([...crawls].flatMap((crawl) => segmentsOf.get(crawl) ?? []));
  const chosen = batches.filter((batch) => batch.some((segment) => segments.has(segment)));
  const published = await readPublished(session, listShapes(tables));
  await reloadBatches(session, chosen, published, report);
  return { report, missing: new Set([...crawls].filter((crawl) => !segmentsOf.has(crawl))) };
}

/**
 * Rebuilds the rows of shapes from every published segment that is kept, batch by batch. Where consecutive nights brought
 * the same text, it reads the last of them only, which decides the row or version: work and disk follow the rows, not the
 * nights.
 */
async function reloadShapes(session: Context, shapes: ReadonlySet<string>): Promise<ReloadReport> {
  const { folder } = session;
  const total: ReloadReport = { ...nothingPublished(), segments: 0, gone: 0, amended: {} };
  const published = await readPublished(session, shapes);
  const kept = new Set([...(await listArchived(folder.archive)), ...(await listSegments(folder.landing))]);
  total.gone = [...published].filter((segment) => !kept.has(segment)).length;
  await session.withBuild((build) => forgetTexts(build, shapes));
  // Staged rows are of the former mapping.
  for (const segment of await listStaged(folder)) await removeStaged(folder, segment);
  const needed = await findNeededRecords(
    folder,
    session.databaseOptions,
    await readWithTexts(session, published),
  );
  await reloadBatches(session, (await readBatches(session)).batches, published, total, needed);
  await session.withBuild((build) => build.transaction(() => recordMapping(build, shapes)));
  return total;
}

async function reloadBatches(
  session: Context,
  batches: readonly (readonly number[])[],
  published: ReadonlySet<number>,
  total: ReloadReport,
  needed?: NeededRecords,
): Promise<void> {
  const { folder, log, databaseOptions } = session;
  for (const batch of batches) {
    const segments = batch.filter((segment) => published.has(segment));
    if (segments.length === 0) continue;
    const read = async (records?: NeededRecords) => {
      // Frees the memory that typing needs.
      session.closeBuild();
      const options = { ...databaseOptions, memoryLimit: memoryLimits.loader };
      const replay = await openReplay(folder, segments, options, records);
      return session.withBuild((build) => reload(build, replay, publishOptions(session), records?.segments));
    };
    // Null where the needed records alone would not do.
    const reloaded = (await read(needed)) ?? ((await read()) as Reloaded);
    await closeReplay(folder);
    addReloaded(total, reloaded, segments.length);
    log.info({ segments: total.segments, of: published.size - total.gone }, 'reloaded');
  }
}

/** Forgets the known texts of shapes, because the former mapping read their rows. */
async function forgetTexts(build: Database, shapes: ReadonlySet<string>): Promise<void> {
  const specs = readTableSpecs().filter(
    (spec) => spec.texts && spec.shapes.some((shape) => shapes.has(shape)),
  );
  for (const spec of specs) await build.run(forgetTextsSql(spec));
}

/** A reload as part of a run's report, where rebuilt rows count as amended. */
export function reloadAsPublished(report: ReloadReport): Published {
  const tables = Object.entries(report.tables).map(([table, counts]) => {
    const amended = report.amended[table] ?? 0;
    const seen = counts.inserted + counts.changed + amended;
    return [table, { ...counts, seen, amended, confirmed: 0, stale: 0 }];
  });
  return { ...report, tables: Object.fromEntries(tables) };
}

function listShapes(tables: readonly string[]): ReadonlySet<string> {
  const specs = readTableSpecs();
  const unknown = tables.find((table) => !specs.some(({ name }) => name === table));
  if (unknown !== undefined)
    throw new UsageError(
      `there is no table ${unknown}`,
      `Tables: ${specs.map(({ name }) => name).join(', ')}.`,
    );
  const chosen = tables.length === 0 ? specs : specs.filter(({ name }) => tables.includes(name));
  return new Set(chosen.flatMap((spec) => spec.shapes));
}

async function readPublished(session: Context, shapes: ReadonlySet<string>): Promise<ReadonlySet<number>> {
  const rows = await session.withBuild((build) =>
    build.rows<{ segment: bigint; shape: string }>('select segment, shape from meta.segments'),
  );
  return new Set(rows.flatMap(({ segment, shape }) => (shapes.has(shape) ? Number(segment) : [])));
}

/** Those of the segments whose records go to tables that recognise texts. */
async function readWithTexts(session: Context, published: ReadonlySet<number>): Promise<ReadonlySet<number>> {
  const shapes = new Set(readTableSpecs().flatMap((spec) => (spec.texts ? spec.shapes : [])));
  const withTexts = await readPublished(session, shapes);
  session.closeBuild();
  return new Set([...withTexts].filter((segment) => published.has(segment)));
}

/** All segments in batches, and by `task/crawl` those that have pages of it. */
async function readBatches({
  folder,
  databaseOptions,
}: Context): Promise<{ batches: number[][]; segmentsOf: ReadonlyMap<string, number[]> }> {
  const database = await openDatabase(':memory:', databaseOptions);
  try {
    const batches = await planBatches(database, folder);
    const rows = await database.rows<{ crawl: string; segments: bigint[] }>(
      `select task || '/' || crawl as crawl, list(distinct segment) as segments from segment_line group by all`,
    );
    const segmentsOf = new Map(rows.map(({ crawl, segments }) => [crawl, segments.map(Number)]));
    return { batches, segmentsOf };
  } finally {
    database.close();
  }
}

function addReloaded(total: ReloadReport, reloaded: Reloaded, segments: number): void {
  total.segments += segments;
  addPublished(total, reloaded);
  for (const [table, n] of Object.entries(reloaded.amended))
    total.amended[table] = (total.amended[table] ?? 0) + n;
}
