import type { DataFolder } from '../data-folder.ts';
import { reloadInFull } from '../load/load.ts';
import { listFiles, type StagedSegment } from '../load/staged-segments.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { limitBeside } from '../warehouse/memory.ts';
import { readTableSpecs } from '../warehouse/table-spec.ts';
import { appendRows } from './append-rows.ts';
import { type CrawlTableOptions, listSegmentsOf, makeCrawlTables, makeRequestedIds } from './crawl-tables.ts';
import { operationsOf } from './follow-rows.ts';
import { applyForget, type Forget, listForgets } from './forget-rows.ts';
import { refuseCrawls, stillHeld } from './guards.ts';
import { mergeTable, noRows } from './merge-table.ts';
import { addCounts, nothingPublished, type Published, type Quarantined } from './published.ts';
import { listWaiting, settleAbsent } from './settle-absent.ts';

export interface PublishOptions extends CrawlTableOptions {
  /** Ids of refusals that somebody accepted, each with the run that did. */
  acceptedBy?: ReadonlyMap<string, string>;
}

/** Share of the memory limit that a publish has at least, however large the build is. */
const publishMemoryShare = 0.75;

/**
 * Applies staging to the tables: complete crawls to merge tables, every new segment to append-only ones. Crawls are applied run
 * by run and wave by wave, in the order in which the runs finished them. So several nights at once, or a rebuild, make the same
 * history as publishing every night. Killed at any point and run again, it changes nothing twice.
 */
export async function publish(
  database: Database,
  folder: DataFolder,
  options: PublishOptions,
): Promise<Published> {
  const limit = await limitBeside(folder.build, database.memoryBytes, publishMemoryShare);
  return database.withMemory(limit, () => publishCrawls(database, folder, options));
}

async function publishCrawls(
  database: Database,
  folder: DataFolder,
  options: PublishOptions,
): Promise<Published> {
  const staged = await makeCrawlTables(database, folder, options);
  const files = readTableSpecs().flatMap((spec) => listFiles(folder, spec, staged));
  await database.useThreads([folder.build, ...files]);
  const result = nothingPublished();
  const { acceptedBy = new Map() } = options;
  let forgets = await listForgets(database);
  for (const step of await listSteps(database)) {
    // In run order, so that rows a later run brought again stay.
    const [earlier, later] = splitForgets(forgets, step.run_id);
    await applyForgets(database, earlier, result);
    forgets = later;
    await database.run(readSql('publish/ready.sql'), step);
    await publishReady(database, folder, { acceptedBy, staged, result });
  }
  await applyForgets(database, forgets, result);
  const [due] = await database.rows<{ n: bigint }>(
    `select count(*) as n from (${readSql('publish/due.sql')})`,
    { run: options.run, now: Date.now() },
  );
  result.unasked = Number(due?.n ?? 0n);
  result.waiting = await listWaiting(database);
  result.refused = await stillHeld(database, result.refused);
  return result;
}

/** The crawls that are published together: those that one run finished in one wave, its look-ups apart. */
interface Step extends Record<string, string | boolean | bigint | null> {
  run_id: string | null;
  confirms: boolean;
  wave: bigint | null;
}

/**
 * A run's look-ups come after its other crawls, because they are about rows that these missed. Pages received outside a run have no
 * wave. Without a ready crawl there is one step: for append-only tables, and for the state of open crawls.
 */
async function listSteps(database: Database): Promise<readonly Step[]> {
  const steps = await database.rows<Step>(
    `select run_id, job = '_confirm' as confirms, wave from crawl_state where state = 'ready' group by all order by all`,
  );
  return steps.length === 0 ? [{ run_id: null, confirms: false, wave: null }] : steps;
}

/** The forgets of runs before `run`, and the rest. Without a run, all come before. */
function splitForgets(forgets: readonly Forget[], run: string | null): [Forget[], Forget[]] {
  const isEarlier = (forget: Forget) => run === null || forget.run < run;
  return [forgets.filter(isEarlier), forgets.filter((forget) => !isEarlier(forget))];
}

async function applyForgets(
  database: Database,
  forgets: readonly Forget[],
  result: Published,
): Promise<void> {
  for (const forget of forgets) addGone(result, await applyForget(database, forget));
}

function addGone(result: Published, goneByTable: Readonly<Record<string, number>>): void {
  for (const [table, gone] of Object.entries(goneByTable)) addCounts(result, table, { ...noRows, gone });
}

/** Publishes the crawls in `ready`: first the rows, each slice in its own transaction; then the state of all in one. */
async function publishReady(
  database: Database,
  folder: DataFolder,
  {
    acceptedBy,
    staged,
    result,
  }: Required<Pick<PublishOptions, 'acceptedBy'>> & { staged: readonly StagedSegment[]; result: Published },
): Promise<void> {
  await makeRequestedIds(database, folder);
  await database.run('create or replace temp table offered as select * from ready');
  const offeredSegments = await listSegmentsOf(database, 'ready');
  const offered = staged.filter(({ segment }) => offeredSegments.has(segment));
  result.refused = result.refused.concat(await refuseCrawls(database, folder, offered));
  result.quarantined = result.quarantined.concat(
    await database.rows<Quarantined>(
      `select job, sum(quarantined)::double as records, max_by(problem, row(quarantined, problem)) as reason,
        not bool_and(exists (from meta.checkpoints c where c.job = offered.job and c.target = offered.target and c.state = 'complete')) as first
      from offered join cast_error_count using (task, crawl) group by job order by job`,
    ),
  );
  const ready = await listSegmentsOf(database, 'ready');
  const sourceWentBack = (await database.rows('from ready where rolls_back limit 1')).length > 0;
  const applied = await listSegmentsOf(database, 'applied');
  const toMerge = staged.filter(({ segment }) => ready.has(segment));
  // Append-only tables take each segment once, and again with a crawl that was open, refused or held until now.
  const toAppend = staged.filter(({ segment }) => !applied.has(segment) || ready.has(segment));
  for (const spec of readTableSpecs()) {
    const counts =
      spec.publish === 'merge'
        ? await mergeTable(
            database,
            spec,
            listFiles(folder, spec, toMerge),
            (unrecognised) => reloadInFull(folder, unrecognised),
            sourceWentBack,
          )
        : await appendRows(database, spec, listFiles(folder, spec, toAppend));
    addCounts(result, spec.name, counts);
  }
  const gone = await database.transaction(() =>
    commitState(database, folder, { staged, offered, acceptedBy }),
  );
  addGone(result, gone);
  await database.run('checkpoint');
  const [row] = await database.rows<{ crawls: bigint }>('select count(*) as crawls from ready');
  result.crawls += Number(row?.crawls ?? 0n);
}

/**
 * Writes checkpoints, coverage, quarantine and segments, and closes the rows that left, in the caller's transaction.
 * @returns rows closed, by table
 */
async function commitState(
  database: Database,
  folder: DataFolder,
  {
    staged,
    offered,
    acceptedBy,
  }: Required<Pick<PublishOptions, 'acceptedBy'>> & {
    staged: readonly StagedSegment[];
    offered: readonly StagedSegment[];
  },
): Promise<Record<string, number>> {
  await database.run(readSql('publish/checkpoints.sql'));
  await database.run(readSql('publish/refusals.sql'), {
    ids: [...acceptedBy.keys()],
    runs: [...acceptedBy.values()],
  });
  const [feed] = await database.rows('from crawl_state where is_feed limit 1');
  if (feed !== undefined) await database.run(readSql('publish/coverage.sql'));
  for (const name of ['closed-before', 'closed']) await database.run(readSql(`publish/${name}.sql`));
  await recordParams(database);
  const gone = await settleAbsent(database, folder, staged);
  await quarantineCastErrors(database, folder, offered);
  await database.run(
    `update crawl_state set state = 'published' from ready where ready.task = crawl_state.task and ready.crawl = crawl_state.crawl`,
  );
  await database.run(readSql('publish/segments.sql'));
  return gone;
}

/** Records the operation and parameters of the ready crawls' targets, if they differ from the recorded ones. */
async function recordParams(database: Database): Promise<void> {
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

/**
 * Quarantines the cast errors of a step's crawls, refused ones included. Each is recorded once per target, because an incremental
 * crawl receives again what others already quarantined.
 */
async function quarantineCastErrors(
  database: Database,
  folder: DataFolder,
  staged: readonly StagedSegment[],
): Promise<void> {
  await database.run(readSql('publish/quarantine.sql'));
  await insertCastErrors(database, folder, staged, 'offered');
}

/**
 * Adds the cast errors of crawls to `meta.quarantine`. Reads `cast_error_count`.
 * @param crawls the temporary table of these crawls
 */
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
