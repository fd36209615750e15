import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { listSegments, longestPageLine, pageFile } from '../landing/segment-files.ts';
import { reloadInFull } from '../load/load.ts';
import { listFiles, listStaged, type StagedSegment } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import { defaultThresholds, type Thresholds } from '../thresholds.ts';
import type { Database } from '../warehouse/database.ts';
import { limitBeside } from '../warehouse/memory.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { type Accepted, joinAccepted, nothingAccepted } from './accepted.ts';
import { appendRows } from './append-rows.ts';
import { operationsOf } from './follow-rows.ts';
import { applyForget, listForgets } from './forget-rows.ts';
import { judgeCrawls, stillHeld } from './guards.ts';
import { makeThresholds } from './make-thresholds.ts';
import { mergeTable, noRows } from './merge-table.ts';
import { addCounts, nothingPublished, type Published, type Quarantined } from './published.ts';
import { settleAbsent } from './settle-absent.ts';

export interface PublishOptions {
  run: string;
  /** Share of a crawl's records that may be quarantined (at least 50) before it is not published. */
  quarantineLimit: number;
  /** What a crawl may be wrong by (sql/guards/). */
  guards?: Thresholds;
  /** What the guards let pass, by the run that received a crawl, or accepted it later. */
  acceptedBy?: ReadonlyMap<string, Partial<Accepted>>;
}

/**
 * Applies staging to the tables: complete crawls to merge tables, every new segment to append-only ones. Crawls go in
 * run by run and wave by wave, in the order they finished them, so that what several nights left behind (or a rebuild replays)
 * makes the same history as publishing every night. Killed at any point and run again, it changes nothing twice.
 */
export async function publish(
  database: Database,
  folder: DataFolder,
  options: PublishOptions,
): Promise<Published> {
  const limit = await limitBeside(folder.build, database.memoryBytes, 0.75);
  return database.withMemory(limit, () => publishCrawls(database, folder, options));
}

async function publishCrawls(
  database: Database,
  folder: DataFolder,
  options: PublishOptions,
): Promise<Published> {
  const staged = await findCrawls(database, folder, options);
  const files = readTableSpecs().flatMap((spec) => listFiles(folder, spec, staged));
  await database.useThreads([folder.build, ...files]);
  const result = nothingPublished();
  // A run's look-ups are about what its other crawls missed. Lines of older versions name no wave.
  const steps = await database.rows<{ run_id: string | null; confirms: boolean; wave: bigint | null }>(
    `select run_id, job = '_confirm' as confirms, wave from crawl_state where state = 'ready' group by all order by all`,
  );
  const forgets = await listForgets(database);
  // In the order of what was said: what a later run brought stays.
  const forgetBefore = async (run: string | null) => {
    for (let next = forgets[0]; next !== undefined && (run === null || next.run < run); next = forgets[0]) {
      const gone = await applyForget(database, next);
      for (const [table, rows] of Object.entries(gone)) addCounts(result, table, { ...noRows, gone: rows });
      forgets.shift();
    }
  };
  // Without a ready crawl there is still what append-only tables have received, and the state of open crawls.
  for (const step of steps.length === 0 ? [{ run_id: null, confirms: false, wave: null }] : steps) {
    await forgetBefore(step.run_id);
    const accept = joinAccepted(nothingAccepted, options.acceptedBy?.get(step.run_id ?? ''));
    await database.run(readSql('publish/ready.sql'), { ...step, rollback: accept.rollback });
    await publishReady(database, folder, { accept, staged, result });
  }
  await forgetBefore(null);
  const [absent] = await database.rows<{ n: bigint }>(
    `select count(*) as n from (${readSql('publish/due.sql')})`,
    { run: options.run, now: Date.now() },
  );
  result.unasked = Number(absent?.n ?? 0n);
  result.refused = await stillHeld(database, result.refused);
  return result;
}

/** Publishes the crawls in `ready`: data first, each slice its own transaction; then the state of all in one. */
async function publishReady(
  database: Database,
  folder: DataFolder,
  {
    accept,
    staged,
    result,
  }: {
    accept: Accepted;
    staged: readonly StagedSegment[];
    result: Published;
  },
): Promise<void> {
  await readAsked(database, folder);
  await database.run('create or replace temp table offered as select * from ready');
  const received = await readSegments(database, 'from landed semi join ready using (task, crawl)');
  const toJudge = staged.filter(({ segment }) => received.has(segment));
  result.refused = result.refused.concat(await judgeCrawls(database, folder, toJudge, accept));
  result.quarantined = result.quarantined.concat(
    await database.rows<Quarantined>(
      `select job, sum(quarantined)::double as records, max_by(problem, row(quarantined, problem)) as reason
      from offered join cast_error_count using (task, crawl) group by job order by job`,
    ),
  );
  const ready = await readSegments(database, 'from landed semi join ready using (task, crawl)');
  const rollsBack = (await database.rows('from ready where rolls_back limit 1')).length > 0;
  const appended = await readSegments(database, 'from meta.segments');
  const toMerge = staged.filter(({ segment }) => ready.has(segment));
  const toAppend = staged.filter(({ segment }) => !appended.has(segment) || ready.has(segment));
  for (const spec of readTableSpecs()) {
    const counts =
      spec.publish === 'merge'
        ? await mergeTable(
            database,
            spec,
            listFiles(folder, spec, toMerge),
            (unrecognised) => reloadInFull(folder, unrecognised),
            rollsBack,
          )
        : await appendRows(database, spec, listFiles(folder, spec, toAppend));
    addCounts(result, spec.name, counts);
  }
  const gone = await database.transaction(() =>
    commitState(database, folder, { staged, received: toJudge, accept }),
  );
  for (const [table, rows] of Object.entries(gone)) addCounts(result, table, { ...noRows, gone: rows });
  await database.run('checkpoint');
  const [row] = await database.rows<{ crawls: bigint }>('select count(*) as crawls from ready');
  result.crawls += Number(row?.crawls ?? 0n);
}

/** Makes `threshold`, `landed` and `crawl_state`; returns the staged segments. Every segment with records must be staged. */
export async function findCrawls(
  database: Database,
  folder: DataFolder,
  { run, quarantineLimit, guards = defaultThresholds }: PublishOptions,
): Promise<StagedSegment[]> {
  await makeThresholds(database, { ...guards, quarantineLimit });
  await database.run(readSql('publish/macros.sql'));
  await database.run(readSql('publish/landed.sql'), await pageLines(folder));
  await database.run(readSql('publish/crawl-states.sql'), { run });
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

/** Makes `requested_id`: what the look-ups in `ready` asked for. */
export async function readAsked(database: Database, folder: DataFolder): Promise<void> {
  await database.run(readSql('publish/requested-ids.sql'), await pageLines(folder));
}

/** What SQL that reads the landing log's page lines asks for. */
async function pageLines(folder: DataFolder): Promise<{ page_files: string[]; longest_page_line: number }> {
  const files = await listPageFiles(folder);
  return { page_files: files, longest_page_line: await longestPageLine(files) };
}

/** DuckDB reads no empty list of files, nor `/dev/null`: an empty log is an empty file. */
async function listPageFiles(folder: DataFolder): Promise<string[]> {
  const segments = await listSegments(folder.landing);
  if (segments.length > 0) return segments.map((segment) => pageFile(folder.landing, segment));
  const empty = join(folder.temp, 'no-pages.ndjson');
  await writeFile(empty, '', { mode: 0o600 });
  return [empty];
}

/** Segments by number. @param from of what: `from meta.segments where …` */
export async function readSegments(database: Database, from: string): Promise<ReadonlySet<number>> {
  const rows = await database.rows<{ segment: bigint }>(`select distinct segment ${from}`);
  return new Set(rows.map(({ segment }) => Number(segment)));
}

/** Checkpoints, coverage, rows that left, quarantine and segments, in the caller's transaction. @returns rows that left */
async function commitState(
  database: Database,
  folder: DataFolder,
  {
    staged,
    received,
    accept,
  }: { staged: readonly StagedSegment[]; received: readonly StagedSegment[]; accept: Accepted },
): Promise<Record<string, number>> {
  await database.run(readSql('publish/checkpoints.sql'));
  await database.run(readSql('publish/refusals.sql'));
  const [feed] = await database.rows('from crawl_state where is_feed limit 1');
  if (feed !== undefined) await database.run(readSql('publish/coverage.sql'));
  for (const name of ['closed-before', 'closed'])
    await database.run(readSql(`publish/${name}.sql`), { accepted: accept.vanished });
  await noteParams(database);
  const gone = await settleAbsent(database, folder, staged);
  await quarantineCastErrors(database, folder, received);
  await database.run(
    `update crawl_state set state = 'published' from ready where ready.task = crawl_state.task and ready.crawl = crawl_state.crawl`,
  );
  await database.run(readSql('publish/segments.sql'));
  return gone;
}

/** Notes what the targets of the ready crawls were asked with, where that is another question than before. */
async function noteParams(database: Database): Promise<void> {
  await database.run(readSql('publish/target-params.sql'), { operations: operationsOf() });
  const same = `meta.target_params.job = c.job and meta.target_params.target = c.target`;
  const differs = `(meta.target_params.operation, meta.target_params.params, meta.target_params.ids)
      is distinct from (c.operation, c.params, c.ids)`;
  await database.run(
    `delete from meta.target_params using crawled_target c where ${same} and ${differs} and meta.target_params.crawl <= c.crawl`,
  );
  await database.run(
    `insert into meta.target_params by name
    select * from crawled_target c where not exists (from meta.target_params where ${same})`,
  );
}

/** What the crawls of a step, refused ones too, found that does not fit, once a target: an incremental crawl sees what others saw again. */
async function quarantineCastErrors(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(readSql('publish/quarantine.sql'));
  await insertCastErrors(database, folder, staged, 'offered');
  await database.run(readSql('publish/first-quarantined.sql'));
}

/** What the crawls in `ready`, or another table, found that does not fit, after `cast_error_count` of them is made. */
export async function insertCastErrors(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
  crawls: 'ready' | 'offered' = 'ready',
): Promise<void> {
  const [cast_errors] = await database.rows('from cast_error_count limit 1');
  if (cast_errors === undefined) return;
  for (const spec of readTableSpecs()) {
    const files = listFiles(folder, spec, staged);
    if (files.length === 0) continue;
    await database.run(
      `insert into meta.quarantine (table_name, task, crawl, page, slot, key, column_name, reason, raw)
      with found as (
        select task, crawl, page, slot, cast_error.column_name, cast_error.reason, cast_error.raw,
          coalesce(key, mentioned_key(cast_error.raw)) as key
        from (
          select task, crawl, page, slot, nullif(concat_ws('/', ${spec.key.join(', ')}), '') as key, unnest(cast_errors) as cast_error
          from read_parquet($files)
          semi join ${crawls} using (task, crawl)
          where len(cast_errors) > 0
        )
      )
      select $table, task, crawl, page, slot, key, column_name, reason, raw
      from found join ${crawls} r using (task, crawl)
      where not exists (
        from meta.quarantine q join meta.checkpoints c on c.task = q.task
        where c.job = r.job and c.target = r.target and q.table_name = $table
          and q.key is not distinct from found.key
          and q.column_name is not distinct from found.column_name
          and q.raw is not distinct from found.raw
      )`,
      { table: spec.name, files },
    );
  }
}
