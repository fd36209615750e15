import { copyFile, mkdir, readFile, rename } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { recordLostTexts } from '../archive/lost-texts.ts';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { LedgerlakeError } from '../errors.ts';
import { crawlKey, isEnded, readLanding } from '../landing/reader.ts';
import { bootTime, finishRepair } from '../landing/recover-landing.ts';
import { type LandingRepair, planLandingRepair, repairLanding } from '../landing/repair-landing.ts';
import { exists, syncDirectory, syncFile, writeSynced } from '../landing/segment-files.ts';
import { removeStaged } from '../load/staged-segments.ts';
import { openDatabase } from '../warehouse/database.ts';
import { takeRunLock } from '../warehouse/run-lock.ts';
import { type Examination, examineFolder, isObject } from './examine-folder.ts';

/** The result of a repair. */
export interface Repaired {
  /** The folder with the files set aside; null when there are none. */
  aside: string | null;
  pages: LandingRepair['pages'];
  /** Targets that the next run crawls again, each from a page on. */
  askedAgain: { job: string; target: string; fromPage: number }[];
  /** A sentence for each file. */
  done: string[];
}

/**
 * Sets damaged files aside, without deleting any, so that the next command can continue with the rest. Killed at any
 * point and run again, it ends the same.
 * @throws StoppedEarly when a run is at work
 */
export async function repairFolder(
  folder: DataFolder,
  config: Pick<Config, 'warehouse'>,
  log: Logger,
  now: Date,
): Promise<Repaired> {
  const lock = await takeRunLock(folder.lock, folder.temp);
  try {
    if (await exists(folder.landing)) await finishRepair(folder.landing);
    const examined = await examineFolder(folder, config);
    const aside = join(folder.damaged, now.toISOString().replaceAll(':', ''));
    const done = [
      ...(await repairLog(folder, examined, aside)),
      ...(await repairArchive(folder, config, examined, aside)),
    ];
    const landing = await repairPages(folder, config, aside);
    for (const segment of examined.staging) await removeStaged(folder, segment);
    const wasSetAside = await exists(aside);
    if (wasSetAside) log.warn({ aside }, 'damaged files were set aside');
    return { aside: wasSetAside ? aside : null, ...landing, done: [...done, ...landing.done] };
  } finally {
    lock.release();
  }
}

async function repairPages(
  folder: DataFolder,
  config: Pick<Config, 'warehouse'>,
  aside: string,
): Promise<Omit<Repaired, 'aside'>> {
  const nothing = { pages: { kept: 0, setAside: 0 }, askedAgain: [], done: [] };
  if (!(await exists(folder.landing))) return nothing;
  const plan = await planLandingRepair(folder.landing, bootTime());
  if (plan.damaged.length === 0) return nothing;
  await repairLanding(folder.landing, plan, aside, async () => {
    // Otherwise rows would be published whose pages have left the log.
    for (const { segment } of plan.rewritten) await removeStaged(folder, segment);
  });
  const complete = await readComplete(folder, config);
  // An unreadable line may have been the last one of any crawl that now has no end.
  const open = plan.hasUnknown ? await listOpen(folder.landing) : [];
  const incomplete = new Map([...open, ...plan.broken].map((broken) => [crawlKey(broken), broken]));
  const askedAgain = [...incomplete].flatMap(([key, { job, target, fromPage }]) =>
    complete.has(key) ? [] : { job, target, fromPage },
  );
  const done = plan.rewritten.map(
    ({ segment, kept }) =>
      `segment ${segment}: ${kept.filter(({ line }) => line?.kind === 'page').length} pages kept, the files as they were are in ${aside}`,
  );
  return { pages: plan.pages, askedAgain, done };
}

/** Unfinished crawls of the landing log, each with its next page. */
async function listOpen(landing: string): Promise<LandingRepair['broken']> {
  return [...(await readLanding(landing)).values()].flatMap((crawl) =>
    isEnded(crawl) || crawl.failed !== null ? [] : { ...crawl, fromPage: crawl.pages.size + 1 },
  );
}

/** Crawls that are in the tables, and need not be crawled again. */
async function readComplete(
  { build, temp }: DataFolder,
  { warehouse }: Pick<Config, 'warehouse'>,
): Promise<Set<string>> {
  if (!(await exists(build))) return new Set();
  const { memoryLimit, threads } = warehouse;
  try {
    const database = await openDatabase(build, { memoryLimit, threads, tempDir: temp, readOnly: true });
    const rows = await database
      .rows<{ crawl: string }>(
        `select task || '/' || crawl as crawl from meta.checkpoints where state = 'complete'`,
      )
      .finally(() => database.close());
    return new Set(rows.map(({ crawl }) => crawl));
  } catch (error) {
    // A build that does not open is rebuilt by the next run.
    if (error instanceof LedgerlakeError) return new Set();
    throw error;
  }
}

async function repairLog(_: DataFolder, { logs }: Examination, aside: string): Promise<string[]> {
  const done: string[] = [];
  for (const [path, numbers] of logs) {
    await mkdir(aside, { recursive: true, mode: 0o700 });
    const copy = join(aside, basename(path));
    await copyFile(path, copy);
    await syncFile(copy);
    await syncDirectory(aside);
    const lines = (await readFile(path, 'utf8')).split('\n');
    const kept = lines.filter((line, n) => n === lines.length - 1 || isObject(line));
    await writeSynced(`${path}.tmp`, kept.join('\n'));
    await rename(`${path}.tmp`, path);
    done.push(`${path}: ${numbers.length} lines taken out, the file as it was is in ${aside}`);
  }
  return done;
}

async function repairArchive(
  folder: DataFolder,
  { warehouse: { memoryLimit, threads } }: Pick<Config, 'warehouse'>,
  { archive }: Examination,
  aside: string,
): Promise<string[]> {
  const done: string[] = [];
  // Page lines are of no use without their records, and records are not archived without their page lines.
  const pages = archive.flatMap((path) =>
    path.endsWith('.lost.parquet') ? [] : [path.replace(/(\.pages)?\.parquet$/, '.pages.parquet')],
  );
  const records = pages.map((path) => path.replace(/\.pages\.parquet$/, '.parquet'));
  for (const path of new Set(records))
    if (await exists(path)) await recordLostTexts(path, { memoryLimit, threads, tempDir: folder.temp });
  if (records.length > 0) await syncDirectory(folder.archive);
  // The records last: after a kill, damaged ones are found again.
  for (const path of new Set([...pages, ...records, ...archive])) {
    if (!(await exists(path))) continue;
    await mkdir(aside, { recursive: true, mode: 0o700 });
    await rename(path, join(aside, basename(path)));
    done.push(`${path} was moved to ${aside}: rows that were published stay`);
  }
  if (archive.length > 0) for (const dir of [aside, folder.archive]) await syncDirectory(dir);
  return done;
}
