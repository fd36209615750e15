import { createReadStream, createWriteStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { listArchived } from '../archive/archive-files.ts';
import {
  type ExpiredArchive,
  listExpired,
  listOldCheckpoints,
  readRemoved,
  removeArchived,
  removeCheckpoints,
  sizeExpired,
} from '../archive/retention.ts';
import { listSegments, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { billingPeriodStart } from './budget.ts';
import { listOldRequests } from './request-log.ts';
import { listOldRuns, readRunLog } from './run-log.ts';
import type { Session } from './session.ts';
import { sumRequestLog } from './sum-requests.ts';

/** What is older than `warehouse.keep_raw_days` and needed by nothing. */
export interface Expired {
  archive: ExpiredArchive;
  /** Bytes that the archive gives back. */
  archiveBytes: number;
  /** Runs whose lines leave the request log, and the run log; the tables keep their rows. */
  requestRuns: ReadonlySet<string>;
  runs: ReadonlySet<string>;
}

type Context = Pick<Session, 'folder' | 'config' | 'databaseOptions' | 'log' | 'run' | 'now'>;

/** Unix ms before which raw records, and what goes with them, may go. */
function keepFrom({ config, now }: Pick<Context, 'config' | 'now'>): number {
  return now() - config.warehouse.keepRawDays * 86_400_000;
}

/** Days for which it is known how far a target was that no job has any more: it may come back. */
const formerDays = 90;

function formerFrom(context: Pick<Context, 'config' | 'now'>): number {
  return Math.min(keepFrom(context), context.now() - formerDays * 86_400_000);
}

/** @param settled segments that the snapshot holds and nothing waits for */
export async function findExpired(context: Context, settled: ReadonlySet<number>): Promise<Expired> {
  const { folder, config, databaseOptions } = context;
  const from = keepFrom(context);
  const archive = await listExpired(folder, databaseOptions, settled, from);
  const period = billingPeriodStart(new Date(), config.billingDay);
  return {
    archive,
    archiveBytes: await sizeExpired(folder.archive, archive),
    requestRuns: await listOldRequests(folder.requests, Math.min(from, period)),
    runs: listOldRuns(await readRunLog(folder.runs), from),
  };
}

/** Removes what `findExpired` found. The snapshot must have been replaced since: it keeps the rows of the logs. */
export async function removeExpired(context: Context, expired: Expired): Promise<void> {
  const { folder, log, databaseOptions } = context;
  const { archive, archiveBytes, requestRuns, runs } = expired;
  await removeArchived(folder, databaseOptions, archive);
  if (archiveBytes > 0)
    log.info({ segments: archive.segments.length, bytes: archiveBytes }, 'removed from the archive');
  await removeLines(folder.requests, requestRuns, folder.root);
  await removeLines(folder.runs, runs, folder.root);
  await sumRequestLog(folder.requests, (run) => run !== context.run);
}

/**
 * Removes the complete checkpoints that later ones have replaced, those of targets that no job has had for months, and refusals that are as old as raw records may get, a week
 * at least: nobody has accepted them. @returns how many checkpoints
 */
export async function thinCheckpoints(build: Database, context: Context): Promise<number> {
  await build.run('delete from meta.refusals where refused_at < $before::timestamptz', {
    before: new Date(Math.min(keepFrom(context), Date.now() - 7 * 86_400_000)).toISOString(),
  });
  const places = await listOldCheckpoints(build, context.folder, keepFrom(context), formerFrom(context));
  await removeCheckpoints(build, places);
  return places.length;
}

/** Days for which `meta` tells of runs, at least: a year to compare with. */
const historyDays = 400;

/**
 * Removes from `meta` what tells of runs older than a year, and segments that neither landing log nor archive has any more.
 */
export async function thinHistory(build: Database, { folder, config }: Context): Promise<void> {
  const days = Math.max(historyDays, config.warehouse.keepRawDays);
  const before = new Date(Date.now() - days * 86_400_000).toISOString();
  const there = [...(await listArchived(folder.archive)), ...(await listSegments(folder.landing))];
  await build.transaction(async () => {
    for (const [file, params] of [
      ['retention/requests.sql', { before }],
      ['retention/runs.sql', { before }],
      [
        'retention/segments.sql',
        { there: there.map(String), last: (await readRemoved(folder.archive)) ?? -1 },
      ],
    ] as const)
      await build.run(readSql(file), params);
  });
}

/** How many checkpoints `thinCheckpoints` would remove. */
export async function countOldCheckpoints(build: Database, context: Context): Promise<number> {
  return (await listOldCheckpoints(build, context.folder, keepFrom(context), formerFrom(context))).length;
}

/**
 * Writes a log anew without the lines of some runs. A `call` that ends at this very moment may lose its line: its
 * credits are then not accounted for.
 */
async function removeLines(path: string, runs: ReadonlySet<string>, dir: string): Promise<void> {
  if (runs.size === 0) return;
  const draft = `${path}.tmp`;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  await pipeline(
    async function* () {
      for await (const line of lines) if (!runs.has(runOf(line))) yield `${line}\n`;
    },
    createWriteStream(draft, { mode: 0o600 }),
  );
  await syncFile(draft);
  await rename(draft, path);
  await syncDirectory(dir);
}

/** The run a line is of; of half a line that a kill left, none. */
function runOf(line: string): string {
  return /"run":"([^"]*)"/.exec(line)?.[1] ?? '';
}

/** Bytes of a log's lines of some runs. */
export async function sizeLines(path: string, runs: ReadonlySet<string>): Promise<number> {
  if (runs.size === 0) return 0;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let bytes = 0;
  for await (const line of lines) if (runs.has(runOf(line))) bytes += Buffer.byteLength(line) + 1;
  return Math.min(bytes, (await stat(path)).size);
}
