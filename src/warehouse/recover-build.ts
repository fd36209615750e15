import { chmod, constants, copyFile, rename, rm } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import { DamagedFile, StoppedEarly } from '../errors.ts';
import { exists, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { quoteText } from '../sql-text.ts';
import { checkVersion, openBuild, setAside } from './build.ts';
import {
  type Database,
  type DatabaseOptions,
  isLockConflict,
  isMissingTable,
  openDatabase,
} from './database.ts';
import { findWrongChecksum } from './database-blocks.ts';

/** A build that was recovered; what its base lacks is replayed into it. */
export interface Recovery {
  /** Why, in words. */
  reason: string;
  base: 'snapshot' | 'nothing';
  /** The new paths of the damaged files. */
  setAside: string[];
}

type Options = Omit<DatabaseOptions, 'readOnly'>;

/**
 * Makes sure that the build opens. A damaged one is set aside with its log. A damaged or missing one is replaced by a copy of the
 * snapshot, or by an empty build if the snapshot is damaged, too, which is then set aside as well.
 * @param because why a sound build is to be replaced; null if it is not
 * @returns null if the build was kept, or there is nothing yet to make one from
 * @throws StoppedEarly, UsageError, DiskError as openBuild: a build that is in use or too new is not damaged
 */
export async function recoverBuild(
  folder: DataFolder,
  options: Options,
  because: string | null = null,
): Promise<Recovery | null> {
  const isThere = await exists(folder.build);
  const damage = because ?? (isThere ? await findDamage(folder, options) : null);
  if (isThere && damage === null) return null;
  // Before anything is moved: a snapshot that is in use or too new stops this here.
  const snapshot = await examineSnapshot(folder, options);
  const now = new Date();
  const aside = [await setAside(`${folder.build}.wal`, now), await setAside(folder.build, now)];
  if (snapshot === 'damaged')
    aside.push(await setAside(`${folder.snapshot}.wal`, now), await setAside(folder.snapshot, now));
  if (snapshot === 'sound') await copySnapshot(folder);
  await syncDirectory(folder.root);
  if (!isThere && snapshot === 'missing') return null;
  return {
    reason: damage ?? 'the build is missing',
    base: snapshot === 'sound' ? 'snapshot' : 'nothing',
    setAside: aside.filter((name) => name !== null),
  };
}

/**
 * Whether a sound snapshot has a run that the build does not know: somebody restored the build, and only it, from a backup. Its
 * next snapshot would take from readers what they had.
 */
export async function isBehindSnapshot(
  build: Database,
  folder: DataFolder,
  options: Options,
): Promise<boolean> {
  if (!(await exists(folder.snapshot))) return false;
  const published = await newestRunOf(folder.snapshot, options);
  const [known] = await build.rows('from meta.runs where run_id >= $published limit 1', { published });
  return published !== '' && known === undefined && (await examineSnapshot(folder, options)) === 'sound';
}

/** The newest run of a snapshot; empty where it has none, is damaged, or another program has it open for writing. */
async function newestRunOf(path: string, options: Options): Promise<string> {
  const query = "select coalesce(max(run_id), '') as run from meta.runs";
  try {
    const snapshot = await openDatabase(path, { ...options, readOnly: true });
    const [newest] = await snapshot.rows<{ run: string }>(query).finally(() => snapshot.close());
    return newest?.run ?? '';
  } catch (error) {
    if (error instanceof DamagedFile || isLockConflict(error) || isMissingTable(error)) return '';
    throw error;
  }
}

/** @returns what is damaged in the build, or null. @throws any other reason why it does not open */
async function findDamage(folder: DataFolder, options: Options): Promise<string | null> {
  try {
    (await openBuild(folder, options)).close();
    return null;
  } catch (error) {
    if (error instanceof DamagedFile) return error.message;
    throw error;
  }
}

/**
 * Whether a build can be made from the snapshot.
 * @throws StoppedEarly when somebody has it open for writing; UsageError when another version made it
 */
export async function examineSnapshot(
  { snapshot }: DataFolder,
  options: Options,
): Promise<'sound' | 'damaged' | 'missing'> {
  if (!(await exists(snapshot))) return 'missing';
  try {
    await verifyDatabase(snapshot, options);
    const database = await openDatabase(snapshot, { ...options, readOnly: true });
    await checkVersion(database).finally(() => database.close());
    return 'sound';
  } catch (error) {
    if (error instanceof DamagedFile) return 'damaged';
    if (!isLockConflict(error)) throw error;
    throw new StoppedEarly(
      `the build must be rebuilt from ${snapshot}, which another program has open for writing`,
      'Close it there; open it read-only (duckdb -readonly), which disturbs nobody.',
      { cause: error },
    );
  }
}

/**
 * Verifies a database file that nobody writes: by its checksums, and if one does not match, which may be a free block's, by reading
 * every table.
 * @throws DamagedFile
 */
export async function verifyDatabase(path: string, options: Options): Promise<void> {
  if ((await findWrongChecksum(path)) !== null) await readTables(path, options);
}

/** Has DuckDB read every table of a database file that nobody writes. @throws DamagedFile */
export async function readTables(path: string, options: Options): Promise<void> {
  const database = await openDatabase(path, { ...options, readOnly: true });
  try {
    for (const table of await listTables(database))
      await database.run(`select bit_xor(hash(t)) from ${table} as t`);
  } finally {
    database.close();
  }
}

async function listTables(database: Database): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(
    `select format('"{}"."{}"', schema_name, table_name) as name from duckdb_tables()
    where database_name = current_database() and not temporary`,
  );
  return rows.map(({ name }) => name);
}

async function copySnapshot(folder: DataFolder): Promise<void> {
  const temporary = `${folder.build}.tmp`;
  await rm(temporary, { force: true });
  await copyFile(folder.snapshot, temporary, constants.COPYFILE_FICLONE);
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await rename(temporary, folder.build);
}

/**
 * Replaces the build, which is set aside, by an empty one. What no segment has is copied to it: the source, the runs and their
 * requests.
 * @returns the paths of the files that were set aside
 */
export async function beginEmptyBuild(folder: DataFolder, options: Options): Promise<string[]> {
  const draft = `${folder.build}.tmp`;
  for (const path of [draft, `${draft}.wal`]) await rm(path, { force: true });
  const database = await openBuild({ ...folder, build: draft }, options);
  try {
    await database.run(`attach ${quoteText(folder.build)} as former (read_only)`);
    for (const table of ['source', 'runs', 'requests'])
      await database.run(`insert into meta.${table} by name from former.meta.${table}`);
  } finally {
    database.close();
  }
  await syncFile(draft);
  const now = new Date();
  const aside = [await setAside(`${folder.build}.wal`, now), await setAside(folder.build, now)];
  await rename(draft, folder.build);
  await syncDirectory(folder.root);
  return aside.filter((name) => name !== null);
}

/** Replaces the build by the one that `beginEmptyBuild` set aside. */
export async function putBack(folder: DataFolder, setAside: readonly string[]): Promise<void> {
  await rm(`${folder.build}.wal`, { force: true });
  for (const name of setAside.toReversed()) await rename(name, name.replace(/\.set-aside-[^/]*$/, ''));
  await syncDirectory(folder.root);
}
