import { constants } from 'node:fs';
import { chmod, copyFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { exists, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { setAside } from './build.ts';
import type { DatabaseOptions } from './database.ts';
import { type BlockDigests, copyBlocks, updateCopy } from './database-blocks.ts';
import { readTables, verifyDatabase } from './recover-build.ts';

/** Free disk space that an early copy needs, in sizes of the snapshot. */
const freeCopies = 3;

/** The path at which the next snapshot is made. */
function draftOf(folder: DataFolder): string {
  return `${folder.snapshot}.tmp`;
}

/** Removes the draft that a killed run left, because nobody has verified it. */
export async function removeDraft(folder: DataFolder): Promise<void> {
  await rm(draftOf(folder), { force: true });
}

/**
 * Begins the next snapshot with a copy of the present one, so that `replaceSnapshot` writes only what changed: the gigabytes are
 * copied while a run waits for the API. It only saves time, so it never fails, and nothing is copied if the disk space may be needed
 * by the crawl.
 * @returns the digests of the copied blocks; null if nothing was copied, also because the file system can share blocks
 */
export async function beginSnapshot(folder: DataFolder, signal: AbortSignal): Promise<BlockDigests | null> {
  const draft = draftOf(folder);
  try {
    const { size } = await stat(folder.snapshot);
    const { bavail, bsize } = await statfs(folder.root);
    if (bavail * bsize < freeCopies * size) return null;
    const shares = await copyFile(folder.snapshot, draft, constants.COPYFILE_FICLONE_FORCE).then(
      () => true,
      () => false,
    );
    if (!shares) return await copyBlocks(folder.snapshot, draft, signal);
    await removeDraft(folder);
  } catch {
    // Stopped, no snapshot yet, or a disk error, which the run meets and reports itself if it matters.
    await removeDraft(folder).catch(() => undefined);
  }
  return null;
}

/**
 * Replaces the readers' snapshot by a copy of the build. It is renamed, so a reader that has the old one open keeps it.
 *
 * The build must be closed: copying an open database file in its own process drops DuckDB's lock, because POSIX
 * locks belong to the process. A `.wal` beside the snapshot was left by somebody who opened it read-write; DuckDB
 * would replay it onto the new snapshot, so it is set aside before the rename, and after it for one that came
 * in between. The copy is verified first, so that a damaged build never takes the place of a whole snapshot.
 * @param begun the digests that `beginSnapshot` returned
 * @returns files that were set aside
 * @throws DamagedFile
 */
export async function replaceSnapshot(
  folder: DataFolder,
  fileMode: number,
  options: Omit<DatabaseOptions, 'readOnly'>,
  begun: BlockDigests | null = null,
): Promise<string[]> {
  const draft = draftOf(folder);
  try {
    await copyBuild(folder.build, draft, options, begun);
  } catch (error) {
    await removeDraft(folder);
    throw error;
  }
  await chmod(draft, fileMode & 0o555);
  const before = await setAside(`${folder.snapshot}.wal`, new Date());
  await rename(draft, folder.snapshot);
  const after = await setAside(`${folder.snapshot}.wal`, new Date());
  await syncDirectory(dirname(folder.snapshot));
  return [before, after].filter((name) => name !== null);
}

/** Makes `draft` a verified, durable copy of the build. Blocks that it has from the former snapshot were verified then. */
async function copyBuild(
  build: string,
  draft: string,
  options: Omit<DatabaseOptions, 'readOnly'>,
  begun: BlockDigests | null,
): Promise<void> {
  if (begun !== null && (await exists(draft))) {
    if ((await updateCopy(build, draft, begun)) !== null) await readTables(draft, options);
    return;
  }
  await copyFile(build, draft, constants.COPYFILE_FICLONE);
  await chmod(draft, 0o600);
  await Promise.all([verifyDatabase(draft, options), syncFile(draft)]);
}
