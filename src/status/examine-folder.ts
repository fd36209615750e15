import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { listDamagedArchive } from '../archive/archive-checksums.ts';
import type { Config } from '../config/config.ts';
import type { DataFolder } from '../data-folder.ts';
import { DamagedFile, LedgerlakeError, UsageError } from '../errors.ts';
import { bootTime, describeDamage } from '../landing/recover-landing.ts';
import { type LandingRepair, planLandingRepair } from '../landing/repair-landing.ts';
import { exists } from '../landing/segment-files.ts';
import { listDamagedStaging } from '../load/staged-segments.ts';
import { readRunLog } from '../run/run-log.ts';
import { readRunning } from '../run/run-state.ts';
import { quoteForShell } from '../shell-words.ts';
import { checkSource, checkVersion } from '../warehouse/build.ts';
import { type Database, isLockConflict, openDatabase } from '../warehouse/database.ts';
import { isSnapshotMissing } from '../warehouse/open-snapshot.ts';
import { verifyDatabase } from '../warehouse/recover-build.ts';

/** Something that `doctor` found. */
export interface Finding {
  about:
    | 'node'
    | 'config'
    | 'jobs'
    | 'lake'
    | 'api'
    | 'clock'
    | 'credits'
    | 'disk'
    | 'permissions'
    | 'version'
    | 'lock'
    | 'landing'
    | 'staging'
    | 'archive'
    | 'database'
    | 'log';
  message: string;
  /** The command to type. */
  repair: string;
  /** Further advice. */
  note?: string;
  /** Exit code of a command that meets it; 0: nothing is wrong, or the next run repairs it. */
  exitCode: number;
}

/** What was found in a data folder, and what `--repair` would do about it. */
export interface Examination {
  findings: Finding[];
  landing: LandingRepair | null;
  /** Archived files that differ from what was written. */
  archive: string[];
  staging: number[];
  /** Unreadable lines of the logs, by path. */
  logs: Map<string, number[]>;
}

const repair = 'ledgerlake doctor --repair';

/**
 * Examines a data folder: rights, versions, and whether its files are as they were written. Changes nothing; takes no
 * lock. While a run is at work, files that it writes are left out.
 * @param config makes it read every byte of the databases and the archive; null: no database, and only the sizes and ends
 *   of archived files
 * @param origins the API by interface that the next run would ask; empty where that is not known
 */
export async function examineFolder(
  folder: DataFolder,
  config: Pick<Config, 'warehouse'> | null,
  origins: Readonly<Record<string, string>> = {},
): Promise<Examination> {
  const examination: Examination = { findings: [], landing: null, archive: [], staging: [], logs: new Map() };
  const rights = await findRights(folder);
  examination.findings.push(...rights);
  if (rights.some(({ exitCode }) => exitCode !== 0)) return examination;
  examination.logs = await findBadLines([folder.runs, folder.requests]);
  examination.findings.push(
    ...[...examination.logs].map(([path, lines]) => describeLog(folder, path, lines)),
  );
  const running = await readRunning(folder, (await readRunLog(folder.runs)).at(-1));
  if (running !== null) {
    const message = `run ${running.run} is at work (process ${running.pid}): what it writes was not looked at`;
    examination.findings.push({
      about: 'lock',
      message,
      repair: 'ledgerlake status',
      note: 'look again when it has ended',
      exitCode: 0,
    });
    return examination;
  }
  await examineLanding(folder, examination);
  await examineRaw(folder, config, examination);
  if (config !== null) examination.findings.push(...(await examineDatabases(folder, config, origins)));
  return examination;
}

async function examineLanding({ landing }: DataFolder, examination: Examination): Promise<void> {
  if (!(await exists(landing))) return;
  examination.landing = await planLandingRepair(landing, bootTime());
  for (const { inspection, line } of examination.landing.damaged) {
    const { message } = describeDamage(landing, inspection, line);
    examination.findings.push({ about: 'landing', message, repair, exitCode: 74 });
  }
}

async function examineRaw(
  folder: DataFolder,
  config: Pick<Config, 'warehouse'> | null,
  examination: Examination,
): Promise<void> {
  if (await exists(folder.staging)) examination.staging = await listDamagedStaging(folder);
  for (const segment of examination.staging)
    examination.findings.push({
      about: 'staging',
      message: `${folder.staging}/${segment} differs from what was written`,
      repair: 'ledgerlake publish',
      note: 'rebuilt from the landing log',
      exitCode: 0,
    });
  if (!(await exists(folder.archive))) return;
  const options =
    config === null
      ? null
      : {
          memoryLimit: config.warehouse.memoryLimit,
          threads: config.warehouse.threads,
          tempDir: folder.temp,
        };
  for (const path of await listDamagedArchive(folder.archive, options)) {
    examination.archive.push(path);
    examination.findings.push({
      about: 'archive',
      message: `${path} differs from what was written`,
      repair,
      note: 'rows that were published stay',
      exitCode: 74,
    });
  }
}

async function examineDatabases(
  folder: DataFolder,
  { warehouse }: Pick<Config, 'warehouse'>,
  origins: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const options = { memoryLimit: warehouse.memoryLimit, threads: warehouse.threads, tempDir: folder.temp };
  const findings: Finding[] = [];
  const repair = 'ledgerlake publish';
  if (await isSnapshotMissing(folder))
    findings.push({ about: 'database', message: `${folder.snapshot} is missing`, repair, exitCode: 0 });
  for (const path of [folder.build, folder.snapshot]) {
    if (!(await exists(path))) continue;
    try {
      await verifyDatabase(path, options);
      const database = await openDatabase(path, { ...options, readOnly: true });
      try {
        await checkVersion(database);
        if (path === folder.build) findings.push(...(await examineSource(database, origins)));
      } finally {
        database.close();
      }
    } catch (error) {
      findings.push(describeDatabase(path, repair, error));
    }
  }
  return findings;
}

/** Whether the next run would ask another API than the one that the folder was filled from. */
async function examineSource(
  database: Database,
  origins: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  try {
    await checkSource(database, origins);
    return [];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [{ about: 'config', message: error.message, repair: error.hint, exitCode: 2 }];
  }
}

function describeDatabase(path: string, repair: string, error: unknown): Finding {
  if (isLockConflict(error))
    return {
      about: 'lock',
      message: `another program has ${path} open for writing`,
      repair: `lsof ${quoteForShell(path)}`,
      note: 'close it there, and open the snapshot read-only',
      exitCode: 75,
    };
  if (error instanceof DamagedFile)
    return { about: 'database', message: `${path} is damaged: ${error.message}`, repair, exitCode: 0 };
  if (!(error instanceof LedgerlakeError)) throw error;
  return { about: 'version', message: error.message, repair: error.hint, exitCode: error.exitCode };
}

/** Files that this user cannot use, and private files that others can read. */
async function findRights(folder: DataFolder): Promise<Finding[]> {
  const { root, landing, incoming, staging, archive, build, requests, runs } = folder;
  const findings: Finding[] = [];
  for (const path of [root, landing, incoming, staging, archive, build, requests, runs]) {
    if (!(await exists(path))) continue;
    const stats = await stat(path);
    const needed = constants.R_OK | constants.W_OK | (stats.isDirectory() ? constants.X_OK : 0);
    const usable = await access(path, needed).then(
      () => true,
      () => false,
    );
    const message = usable
      ? `${path} may be read by other users (mode ${(stats.mode & 0o777).toString(8)})`
      : `${path} may not be read or written by this user`;
    if (!usable) {
      const repair = `sudo chown -R "$USER" ${quoteForShell(root)}`;
      const note = 'or run it as the user that owns the files';
      findings.push({ about: 'permissions', message, repair, note, exitCode: 74 });
    } else if (path !== root && (stats.mode & 0o077) !== 0) {
      findings.push({
        about: 'permissions',
        message,
        repair: `chmod -R go-rwx ${quoteForShell(path)}`,
        exitCode: 0,
      });
    }
  }
  return findings;
}

/** Numbers, from 1, of the lines that are not JSON objects; a torn last line, left by a kill, does not count. */
async function findBadLines(paths: readonly string[]): Promise<Map<string, number[]>> {
  const bad = new Map<string, number[]>();
  for (const path of paths) {
    if (!(await exists(path))) continue;
    const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1);
    const numbers = lines.flatMap((line, n) => (isObject(line) ? [] : n + 1));
    if (numbers.length > 0) bad.set(path, numbers);
  }
  return bad;
}

export function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

function describeLog({ requests }: DataFolder, path: string, lines: readonly number[]): Finding {
  const what =
    path === requests
      ? 'what these requests cost is not counted'
      : 'what these runs began, finished or accepted is not known: their jobs may begin a round again';
  const message = `${path}, line ${lines.slice(0, 10).join(', ')}: not readable; ${what}`;
  return { about: 'log', message, repair, note: 'keeps a copy and removes the lines', exitCode: 0 };
}
