import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, rename, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { listArchived } from '../archive/archive-files.ts';
import {
  type ExpiredArchive,
  listExpired,
  listOldCheckpoints,
  listOrphans,
  readRemoved,
  removeArchived,
  removeCheckpoints,
  sizeExpired,
} from '../archive/retention.ts';
import type { DataFolder } from '../data-folder.ts';
import { listSegments, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { billingPeriodStart } from './budget.ts';
import { listOldRequests } from './request-log.ts';
import { listOldRuns } from './rounds.ts';
import { readRunLog } from './run-log.ts';
import type { Session } from './session.ts';
import { sumRequestLog } from './sum-requests.ts';

/** What is older than `warehouse.keep_raw_days` and not needed any more. */
export interface Expired {
  archive: ExpiredArchive;
  /** Bytes that leave the archive. */
  archiveBytes: number;
  /** Runs whose lines leave the request log; the tables keep their sums. */
  requestRuns: ReadonlySet<string>;
  /** Runs whose lines leave the run log; the tables keep their rows. */
  runs: ReadonlySet<string>;
}

type Context = Pick<Session, 'folder' | 'config' | 'databaseOptions' | 'log' | 'run' | 'now'>;

/** Unix ms from which raw records and their logs are kept. */
function keepFrom({ config, now }: Pick<Context, 'config' | 'now'>): number {
  return now() - config.warehouse.keepRawDays * 86_400_000;
}

/** Days for which the checkpoints of a target that no job has any more are kept: it may come back. */
const formerDays = 90;

function formerFrom(context: Pick<Context, 'config' | 'now'>): number {
  return Math.min(keepFrom(context), context.now() - formerDays * 86_400_000);
}

/** Finds what may be removed. @param settled segments that the snapshot holds and nothing waits for */
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
 * Removes complete checkpoints that later ones have replaced, checkpoints of targets that no job has had for months, and
 * refusals that nobody accepted for as long as raw records are kept, a week at least. @returns how many checkpoints
 */
export async function thinCheckpoints(build: Database, context: Context): Promise<number> {
  await build.run('delete from meta.refusals where refused_at < $before::timestamptz', {
    before: new Date(Math.min(keepFrom(context), Date.now() - 7 * 86_400_000)).toISOString(),
  });
  const old = await listOldCheckpoints(build, context.folder, keepFrom(context), formerFrom(context));
  await removeCheckpoints(build, old);
  return old.length;
}

/** Days for which `meta` keeps runs, at least: a year to compare with. */
const historyDays = 400;

/** Removes from `meta` runs older than a year, and segments that neither landing log nor archive has any more. */
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

/** Rewrites a log without the lines of some runs. A `call` that ends meanwhile may lose its line, and so its credits. */
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

/** The run of a line; empty for half a line that a kill left. */
function runOf(line: string): string {
  return /"run":"([^"]*)"/.exec(line)?.[1] ?? '';
}

/** Bytes of the lines that some runs have in a log. */
export async function sizeLines(path: string, runs: ReadonlySet<string>): Promise<number> {
  if (runs.size === 0) return 0;
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  let bytes = 0;
  for await (const line of lines) if (runs.has(runOf(line))) bytes += Buffer.byteLength(line) + 1;
  return Math.min(bytes, (await stat(path)).size);
}

/** A file or folder that is not needed any more. */
export interface Leftover {
  path: string;
  /** Bytes, of a folder with everything in it. */
  bytes: number;
}

/** Age from which a draft is not one that a `webhook` is receiving, ms. */
const draftAgeMs = 86_400_000;

/**
 * Lists what kills, damage and rebuilds left in a data folder: files set aside, drafts, staged rows without a segment,
 * temporary files. The caller holds the run lock, so that nothing is in use.
 */
export async function listLeftovers(folder: DataFolder, now: number): Promise<Leftover[]> {
  const landed = new Set((await listSegments(folder.landing)).map(String));
  const paths = [
    ...(await listNames(folder.root, (name) => /\.set-aside-|\.tmp(\.wal)?$/.test(name))),
    ...(await listOrphans(folder.archive)),
    ...(await listNames(folder.staging, (name) => !landed.has(name))),
    ...(await listNames(folder.temp, () => true)),
    ...(await listNames(folder.root, (name) => name === basename(folder.replay))),
    ...(await listDrafts(folder.incoming, now)),
  ];
  return Promise.all(paths.map(async (path) => ({ path, bytes: await sizeOf(path) })));
}

async function listDrafts(dir: string, now: number): Promise<string[]> {
  const drafts = await listNames(dir, (name) => name.startsWith('draft-'));
  const ages = await Promise.all(drafts.map(async (path) => now - (await stat(path)).mtimeMs));
  return drafts.filter((_, n) => (ages[n] as number) > draftAgeMs);
}

async function listNames(dir: string, isLeft: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter(isLeft).map((name) => join(dir, name));
}

async function sizeOf(path: string): Promise<number> {
  const entry = await stat(path);
  if (!entry.isDirectory()) return entry.size;
  const inside = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))));
  return inside.reduce((sum, size) => sum + size, 0);
}
