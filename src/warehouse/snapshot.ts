import { chmod, constants, copyFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { syncDirectory, syncFile } from '../landing/segment-files.ts';
import { setAside } from './build.ts';
import type { DatabaseOptions } from './database.ts';
import { verifyDatabase } from './recover-build.ts';

/**
 * Replaces the readers' snapshot by a copy of the build, by rename: who has the old one open goes on reading it.
 *
 * The build must be closed: copying an open database file in its own process drops DuckDB's lock, because POSIX
 * locks belong to the process. A `.wal` beside the snapshot was left by somebody who opened it read-write; DuckDB
 * would replay it onto the new snapshot, so it is set aside before the rename, and after it for one that came
 * in between. The copy is verified first, so that a damaged build never takes the place of a whole snapshot.
 * @returns files that were set aside
 * @throws DamagedFile
 */
export async function replaceSnapshot(
  folder: DataFolder,
  fileMode: number,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<string[]> {
  const temporary = `${folder.snapshot}.tmp`;
  await rm(temporary, { force: true });
  await copyFile(folder.build, temporary, constants.COPYFILE_FICLONE);
  await chmod(temporary, 0o600);
  await Promise.all([verifyDatabase(temporary, options), syncFile(temporary)]);
  await chmod(temporary, fileMode & 0o555);
  const before = await setAside(`${folder.snapshot}.wal`, new Date());
  await rename(temporary, folder.snapshot);
  const after = await setAside(`${folder.snapshot}.wal`, new Date());
  await syncDirectory(dirname(folder.snapshot));
  return [before, after].filter((name) => name !== null);
}
