import { access, constants, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { DiskError, LedgerlakeError, UsageError } from './errors.ts';
import { makeSharedFolder, refuseGoneFolder } from './file-modes.ts';
import { syncDirectory } from './landing/segment-files.ts';

/** The paths of one data folder. Landing, staging, archive and build are readable by their owner only. */
export interface DataFolder {
  /** As the user named it. Every other path is absolute. */
  root: string;
  landing: string;
  /** Pages received outside a run, until the next run takes them in. */
  incoming: string;
  staging: string;
  archive: string;
  temp: string;
  /** Archived segments while they are replayed; otherwise empty. */
  replay: string;
  build: string;
  snapshot: string;
  lock: string;
  requests: string;
  runs: string;
  rates: string;
  runState: string;
  lake: string;
  /** The id by which lakes know this folder. */
  lakeId: string;
  /** What repairs set aside, a folder for each repair. */
  damaged: string;
}

/** The paths of a data folder. @throws UsageError for a path relative to a removed folder */
export function dataFolder(root: string): DataFolder {
  if (!isAbsolute(root)) refuseGoneFolder();
  const inFolder = (name: string) => resolve(root, name);
  return {
    root,
    landing: inFolder('landing'),
    incoming: inFolder('incoming'),
    staging: inFolder('staging'),
    archive: inFolder('archive'),
    temp: inFolder('temp'),
    replay: inFolder('replay'),
    build: inFolder('build.duckdb'),
    snapshot: inFolder('warehouse.duckdb'),
    lock: inFolder('run.lock'),
    requests: inFolder('requests.ndjson'),
    runs: inFolder('runs.ndjson'),
    rates: inFolder('rates.json'),
    runState: inFolder('run.json'),
    lake: inFolder('lake'),
    lakeId: inFolder('lake.id'),
    damaged: inFolder('damaged'),
  };
}

/**
 * Refuses a path that DuckDB cannot open. In paths of files to read it takes `[`, `*` and `?` for patterns, and no pattern
 * can contain a backslash; in the path of a database, `?` ends the path.
 * @param option where the path was given, as errors name it
 * @throws UsageError
 */
export function refuseOddPath(path: string, option: '--data-dir' | 'lake.uri'): void {
  const whole = resolve(path);
  const problem =
    option === '--data-dir' && whole.includes('?')
      ? 'DuckDB opens no database below a path with a ?'
      : /\\/.test(whole) && /[[*?]/.test(whole)
        ? 'DuckDB reads no file below a path with a backslash and one of [, * and ?'
        : null;
  if (problem !== null)
    throw new UsageError(`${option}: ${whole}: ${problem}`, 'Rename the folder, or name another.');
}

/**
 * Refuses to write to a path in the data folder, by whatever name it is reached: everything there is the program's own.
 * @param option where the path was given, as errors name it
 * @returns the path with symbolic links resolved
 * @throws UsageError
 */
export async function refuseOwnPath(
  path: string,
  option: string,
  { root }: Pick<DataFolder, 'root'>,
): Promise<string> {
  const real = await resolveLinks(resolve(path));
  const fromRoot = relative(await resolveLinks(resolve(root)), real);
  if (fromRoot === '..' || fromRoot.startsWith('../')) return real;
  throw new UsageError(
    `${option}: ${path} is in the data folder`,
    "Everything there is the program's own: name a path elsewhere.",
  );
}

/** The path without symbolic links, as far as it exists. */
async function resolveLinks(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    path === dirname(path) ? path : join(await resolveLinks(dirname(path)), basename(path)),
  );
}

/** Makes the folders. @throws DiskError when they cannot be written */
export async function makeDataFolder(folder: DataFolder): Promise<void> {
  try {
    // The root is readable by the group, because it holds the snapshot and the lake.
    const root = dirname(folder.build);
    const topmost = makeSharedFolder(root, 0o750);
    if (topmost !== undefined) await syncNames(root, topmost);
    for (const dir of [folder.landing, folder.staging, folder.archive, folder.temp])
      await mkdir(dir, { recursive: true, mode: 0o700 });
    // Checked now, before a request is paid for whose page cannot land.
    for (const dir of [folder.root, folder.landing, folder.staging, folder.archive, folder.temp])
      await access(dir, constants.W_OK);
  } catch (error) {
    if (error instanceof LedgerlakeError) throw error;
    throw new DiskError(
      `cannot write the data folder ${folder.root} (${(error as NodeJS.ErrnoException).code})`,
      'Make it writable, or name another with --data-dir.',
      { cause: error },
    );
  }
}

/** Makes the names of a new folder, and of its parents up to `topmost`, survive a power loss. */
async function syncNames(folder: string, topmost: string): Promise<void> {
  await syncDirectory(dirname(folder));
  if (folder !== topmost) await syncNames(dirname(folder), topmost);
}
