import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { listSegments, pageFile } from '../landing/segment-files.ts';
import { listStaged, type StagedSegment } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import { defaultThresholds, type Thresholds } from '../thresholds.ts';
import type { Database } from '../warehouse/database.ts';

export interface CrawlTableOptions {
  /** The run that publishes. */
  run: string;
  /** Share of a crawl's records that may be quarantined (at least 50) before it is not published. */
  quarantineLimit: number;
  /** The limits that the guards go by (sql/guards/). */
  guards?: Thresholds;
  /** The rounds that crawl anew what was reset. */
  refreshes?: readonly Refresh[];
}

/** A round that crawls a job, or `job/target`, anew: its first run, and its last; null while it is open. */
export interface Refresh {
  name: string;
  first: string;
  last: string | null;
}

/**
 * Makes `threshold`, `landed`, `crawl_state`, `refresh` and `refreshing`.
 * @returns the staged segments of the landing log, by number
 * @throws Error if a segment with records is not staged
 */
export async function makeCrawlTables(
  database: Database,
  folder: DataFolder,
  { run, quarantineLimit, guards = defaultThresholds, refreshes = [] }: CrawlTableOptions,
): Promise<StagedSegment[]> {
  await makeThresholds(database, { ...guards, quarantineLimit });
  await database.run(readSql('publish/macros.sql'));
  await database.run(readSql('publish/landed.sql'), await pageLines(folder));
  await database.run(readSql('publish/crawl-states.sql'), { run });
  await database.run(readSql('publish/refresh.sql'), {
    names: refreshes.map(({ name }) => name),
    firsts: refreshes.map(({ first }) => first),
    lasts: refreshes.map(({ last }) => last ?? ''),
  });
  await database.run(readSql('publish/refreshing.sql'));
  const staged = new Set(await listStaged(folder));
  const shapes = await database.rows<{ segment: bigint; shape: string; records: bigint }>(
    `select segment, any_value(shape) as shape, coalesce(sum(records), 0)::bigint as records from landed group by segment`,
  );
  const unstaged = shapes.filter(({ segment, records }) => records > 0n && !staged.has(Number(segment)));
  if (unstaged.length > 0)
    throw new Error(`segment ${unstaged[0]?.segment} is published before it is loaded`);
  return shapes
    .filter(({ segment }) => staged.has(Number(segment)))
    .map(({ segment, shape }) => ({ segment: Number(segment), shape }))
    .sort((a, b) => a.segment - b.segment);
}

/** Makes `requested_id`: the ids of the batches in `ready`. */
export async function makeRequestedIds(database: Database, folder: DataFolder): Promise<void> {
  await database.run(readSql('publish/requested-ids.sql'), await pageLines(folder));
}

/** The parameters of SQL that reads the page lines of the landing log. */
async function pageLines(folder: DataFolder): Promise<{ page_files: string[] }> {
  return { page_files: await listPageFiles(folder) };
}

/** DuckDB reads neither an empty list of files nor `/dev/null`, so an empty log is an empty file. */
async function listPageFiles(folder: DataFolder): Promise<string[]> {
  const segments = await listSegments(folder.landing);
  if (segments.length > 0) return segments.map((segment) => pageFile(folder.landing, segment));
  const empty = join(folder.temp, 'no-pages.ndjson');
  await writeFile(empty, '', { mode: 0o600 });
  return [empty];
}

/** Segments with pages of crawls in `ready`; segments that are applied to the tables; those of them that no open or held crawl needs. */
const segmentSources = {
  ready: 'landed semi join ready using (task, crawl)',
  applied: 'meta.segments',
  settled: 'meta.segments where settled',
} as const;

/** The numbers of the segments that are ready, applied or settled. */
export async function listSegmentsOf(
  database: Database,
  source: keyof typeof segmentSources,
): Promise<ReadonlySet<number>> {
  const rows = await database.rows<{ segment: bigint }>(
    `select distinct segment from ${segmentSources[source]}`,
  );
  return new Set(rows.map(({ segment }) => Number(segment)));
}

/** Makes `threshold`, the one row of limits that the guards read, and the macro of the limit of look-ups. */
export async function makeThresholds(
  database: Database,
  thresholds: Thresholds & { quarantineLimit: number },
): Promise<void> {
  await database.run(
    `create or replace temp table threshold as
    select
      $vanishedShare::double as vanished_share,
      $vanishedJobShare::double as vanished_job_share,
      $blankShare::double as blank_share,
      $blankOtherShare::double as blank_other_share,
      $staleShare::double as stale_share,
      $quarantineLimit::double as quarantine_limit,
      $lagSlots::bigint as lag_slots,
      $rows::bigint as rows,
      $fewRows::bigint as few_rows`,
    { ...thresholds },
  );
  await database.run(readSql('publish/look-up-limits.sql'));
}
