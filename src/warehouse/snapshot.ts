import { access, chmod, constants, copyFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { syncDirectory, syncFile } from '../landing/segment-files.ts';
import { setAside } from './build.ts';

/**
 * Replaces the readers' snapshot by a copy of the build, by rename: who has the old one open goes on reading it.
 *
 * The build must be closed: copying an open database file in its own process drops DuckDB's lock, because POSIX
 * locks belong to the process. A `.wal` beside the snapshot was left by somebody who opened it read-write; DuckDB
 * would replay it onto the new snapshot, so it is set aside before the rename, and after it for one that came
 * in between.
 * @returns files that were set aside
 */
export async function replaceSnapshot(folder: DataFolder, fileMode: number): Promise<string[]> {
  const temporary = `${folder.snapshot}.tmp`;
  await rm(temporary, { force: true });
  await copyFile(folder.build, temporary, constants.COPYFILE_FICLONE);
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await chmod(temporary, fileMode & 0o555);
  const before = await setAside(`${folder.snapshot}.wal`, new Date());
  await rename(temporary, folder.snapshot);
  const after = await setAside(`${folder.snapshot}.wal`, new Date());
  await syncDirectory(dirname(folder.snapshot));
  return [before, after].filter((name) => name !== null);
}

/**
 * Makes a build that is missing from the snapshot. Nothing is lost: a segment leaves the landing log only when a
 * snapshot has it. Without this the next publish would replace the readers' snapshot by an empty one.
 * @returns whether there was something to restore
 */
export async function restoreBuild(folder: DataFolder): Promise<boolean> {
  if ((await exists(folder.build)) || !(await exists(folder.snapshot))) return false;
  const temporary = `${folder.build}.tmp`;
  await rm(temporary, { force: true });
  await setAside(`${folder.build}.wal`, new Date());
  await copyFile(folder.snapshot, temporary, constants.COPYFILE_FICLONE);
  await chmod(temporary, 0o600);
  await syncFile(temporary);
  await rename(temporary, folder.build);
  await syncDirectory(dirname(folder.build));
  return true;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
