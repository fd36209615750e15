import { type SlotHistory, usualPerSecond } from '../crawl/slot-ceiling.ts';
import type { DataFolder } from '../data-folder.ts';
import type { PageGroup } from '../landing/page-line.ts';
import { crawlKey, isEnded, type LandedCrawl, readLanding } from '../landing/reader.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import type {
  CompleteCheckpoint,
  CoveredInterval,
  CrawlState,
  FeedGap,
  FreshInterval,
} from './crawl-state.ts';
import { type IsForgotten, readResets } from './reset-state.ts';
import { listRefuted, type RunEntry, readRunLog } from './run-log.ts';

/**
 * Reads what earlier runs left: checkpoints and coverage from the build, open crawls from the landing log.
 * @param asReset jobs to treat as never crawled
 */
export async function readCrawlState(
  database: Database,
  folder: DataFolder,
  asReset: readonly string[] = [],
): Promise<CrawlState> {
  const landed = await readLanding(folder.landing);
  const runs = await readRunLog(folder.runs);
  const isForgotten = readResets(runs, asReset);
  const kept = [...(await withoutSettled(database, landed))].filter(
    ([, crawl]) => !isForgotten(crawl, crawl.runs.at(-1) ?? ''),
  );
  return {
    complete: await readComplete(database, isForgotten),
    failed: await readFailed(database),
    coverage: await readCoverage(database, isForgotten),
    fresh: await readFresh(database, isForgotten),
    gaps: await readGaps(database, isForgotten),
    landed: groupByTask(await withoutHeld(database, new Map(kept))),
    refuted: listRefuted(runs),
    slots: await readSlotHistory(database, [...landed.values()], runs),
    runs,
    now: Date.now(),
  };
}

/** Leaves out crawls that only look open (sql/crawl/settled.sql): resumed, they would be paid for and dropped every night. */
async function withoutSettled(
  database: Database,
  landed: ReadonlyMap<string, LandedCrawl>,
): Promise<Map<string, LandedCrawl>> {
  const open = [...landed.values()].filter((crawl) => !isEnded(crawl) && crawl.failed === null);
  const ended = await database.rows<{ task: string; crawl: string }>(readSql('crawl/settled.sql'), {
    tasks: open.map(({ task }) => task),
    crawls: open.map(({ crawl }) => crawl),
  });
  const keys = new Set(ended.map(crawlKey));
  return new Map([...landed].filter(([key]) => !keys.has(key)));
}

/**
 * Leaves out crawls that a guard refused, until a run accepts them: their targets do not count as done, nor their slots as
 * covered.
 */
async function withoutHeld(
  database: Database,
  landed: ReadonlyMap<string, LandedCrawl>,
): Promise<Map<string, LandedCrawl>> {
  const refused = await database.rows<{ task: string; crawl: string; run_id: string }>(
    'select task, crawl, max(run_id) as run_id from meta.refusals where accepted_by is null group by all',
  );
  const refusedIn = new Map(refused.map((refusal) => [crawlKey(refusal), refusal.run_id]));
  return new Map([...landed].filter(([key, { runs }]) => (runs.at(-1) ?? '') > (refusedIn.get(key) ?? '')));
}

/** The newest slot of any answer that was believed or accepted, and the ledger's rate of slots. */
async function readSlotHistory(
  database: Database,
  landed: readonly LandedCrawl[],
  runs: readonly RunEntry[],
): Promise<SlotHistory> {
  const [published] = await database.rows<{ slot: bigint | null; seen_ms: number | null }>(newestSlot, {
    accepted: runs.flatMap(({ accepted = [] }) => accepted),
  });
  const [rate] = await database.rows<{ per_second: number | null }>(readSql('crawl/slot-rate.sql'));
  const seen = landed.flatMap(({ maxSlot, finishedAt }) =>
    maxSlot === null ? [] : { slot: maxSlot, at: finishedAt === null ? null : Date.parse(finishedAt) },
  );
  if (published?.slot != null) seen.push({ slot: Number(published.slot), at: published.seen_ms });
  return {
    newest: seen.reduce<SlotHistory['newest']>(
      (newest, answer) => (answer.slot > (newest?.slot ?? -1) ? answer : newest),
      null,
    ),
    perSecond: rate?.per_second ?? usualPerSecond,
  };
}

const newestSlot = `
  select max(slot) as slot, max_by(seen_ms, slot) as seen_ms
  from (
    select max_slot as slot, epoch_ms(finished_at)::double as seen_ms from meta.checkpoints where max_slot is not null
    union all
    select high_slot, null from meta.coverage where state = 'covered' and unit = 'slot'
    union all
    select total, epoch_ms(refused_at)::double from meta.refusals
    where guard = 'ahead' and id in (select unnest($accepted::varchar[]))
  )`;

async function readComplete(
  database: Database,
  isForgotten: IsForgotten,
): Promise<Map<string, CompleteCheckpoint>> {
  const rows = await database.rows<{
    task: string;
    job: string;
    target: string;
    slot: bigint | null;
    seen_slot: bigint | null;
    finished_at: string;
    run_id: string;
    pages: bigint;
    records: bigint;
    first_content: string | null;
    reason: string | null;
  }>(`
    select task, job, target, last_indexed_slot as slot, max_slot as seen_slot, finished_at::varchar as finished_at,
      run_id, pages, records, first_content, reason
    from meta.checkpoints where state = 'complete'
    qualify row_number() over (partition by task order by crawl desc) = 1`);
  return new Map(
    rows
      .filter((row) => !isForgotten(row, row.run_id))
      .map(({ task, slot, seen_slot, finished_at, run_id, pages, records, first_content, reason }) => [
        task,
        {
          lastIndexedSlot: slot === null ? null : Number(slot),
          seenSlot: seen_slot === null ? null : Number(seen_slot),
          finishedAt: finished_at,
          run: run_id,
          pages: Number(pages),
          records: Number(records),
          end: reason,
          firstContent: first_content,
        },
      ]),
  );
}

async function readFailed(database: Database): Promise<Map<string, string>> {
  const rows = await database.rows<{ task: string; run_id: string }>(
    `select task, max(run_id) as run_id from meta.checkpoints where state = 'failed' group by task`,
  );
  return new Map(rows.map(({ task, run_id }) => [task, run_id]));
}

async function readCoverage(
  database: Database,
  isForgotten: IsForgotten,
): Promise<Map<string, CoveredInterval[]>> {
  const rows = await readIntervals(database, 'covered', isForgotten);
  return groupBy(rows, ({ low, high }) => ({ lowSlot: Number(low), highSlot: Number(high) }));
}

async function readFresh(
  database: Database,
  isForgotten: IsForgotten,
): Promise<Map<string, FreshInterval[]>> {
  const rows = await database.rows<Interval>(
    `select job, target, task, low_slot as low, high_slot as high, null as cursor, null as cursor_group, run_id
    from meta.read_again order by high_slot desc`,
  );
  return groupBy(
    rows.filter((row) => !isForgotten(row, row.run_id)),
    ({ low, high, run_id }) => ({ lowSlot: Number(low), highSlot: Number(high), run: run_id }),
  );
}

async function readGaps(database: Database, isForgotten: IsForgotten): Promise<Map<string, FeedGap[]>> {
  const rows = await readIntervals(database, 'gap', isForgotten);
  return groupBy(rows, ({ high, cursor, cursor_group }) => ({
    highSlot: Number(high),
    cursor,
    group: cursor_group === null ? null : (JSON.parse(cursor_group) as PageGroup),
  }));
}

interface Interval {
  job: string;
  target: string;
  task: string | null;
  low: bigint;
  high: bigint;
  cursor: string | null;
  cursor_group: string | null;
  run_id: string;
}

async function readIntervals(
  database: Database,
  state: 'covered' | 'gap',
  isForgotten: IsForgotten,
): Promise<Interval[]> {
  const rows = await database.rows<Interval>(
    `select job, target, task, low_slot as low, high_slot as high, cursor, cursor_group, run_id from meta.coverage
    where state = $state order by high_slot desc`,
    { state },
  );
  return rows.filter((row) => !isForgotten(row, row.run_id));
}

function groupBy<T>(rows: readonly Interval[], read: (row: Interval) => T): Map<string, T[]> {
  const byTask = new Map<string, T[]>();
  for (const row of rows) byTask.set(row.task ?? '', [...(byTask.get(row.task ?? '') ?? []), read(row)]);
  return byTask;
}

/** Landed crawls by task, oldest first. */
export function groupByTask(crawls: ReadonlyMap<string, LandedCrawl>): Map<string, LandedCrawl[]> {
  const byTask = new Map<string, LandedCrawl[]>();
  for (const crawl of [...crawls.values()].sort((a, b) => (a.crawl < b.crawl ? -1 : 1))) {
    const same = byTask.get(crawl.task);
    if (same === undefined) byTask.set(crawl.task, [crawl]);
    else same.push(crawl);
  }
  return byTask;
}
