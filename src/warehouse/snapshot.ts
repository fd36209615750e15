import { constants } from 'node:fs';
import { chmod, copyFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DataFolder } from '../data-folder.ts';
import { exists, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { setAside } from './build.ts';
import type { DatabaseOptions } from './database.ts';
import { type BlockDigests, copyBlocks, updateCopy } from './database-blocks.ts';
import { readTables, verifyDatabase } from './recover-build.ts';

/** Free room that a copy begun early asks for, in copies. */
const roomFor = 3;

/** Where the next snapshot is made. */
function draftOf(folder: DataFolder): string {
  return `${folder.snapshot}.tmp`;
}

/** Removes the next snapshot that a killed run had begun: nobody has looked at what is in it. */
export async function removeDraft(folder: DataFolder): Promise<void> {
  await rm(draftOf(folder), { force: true });
}

/**
 * Begins the next snapshot with a copy of the one there is, so that `replaceSnapshot` has to write what changed only: the
 * gigabytes are copied while a run waits for the API. It saves time and nothing else, so it never fails: it is left out
 * where there is no room for another, which the crawl may need.
 * @returns what was copied; null where nothing was, also because the file system can share a file's blocks
 */
export async function beginSnapshot(folder: DataFolder, signal: AbortSignal): Promise<BlockDigests | null> {
  const draft = draftOf(folder);
  try {
    const { size } = await stat(folder.snapshot);
    const { bavail, bsize } = await statfs(folder.root);
    if (bavail * bsize < roomFor * size) return null;
    const shares = await copyFile(folder.snapshot, draft, constants.COPYFILE_FICLONE_FORCE).then(
      () => true,
      () => false,
    );
    if (!shares) return await copyBlocks(folder.snapshot, draft, signal);
    await removeDraft(folder);
  } catch {
    // Stopped, or there is no snapshot, or the disk is in trouble: the run will say what of it concerns it.
    await removeDraft(folder).catch(() => undefined);
  }
  return null;
}

/**
 * Replaces the readers' snapshot by a copy of the build, by rename: who has the old one open goes on reading it.
 *
 * The build must be closed: copying an open database file in its own process drops DuckDB's lock, because POSIX
 * locks belong to the process. A `.wal` beside the snapshot was left by somebody who opened it read-write; DuckDB
 * would replay it onto the new snapshot, so it is set aside before the rename, and after it for one that came
 * in between. The copy is verified first, so that a damaged build never takes the place of a whole snapshot.
 * @param begun what `beginSnapshot` copied
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

/** Makes `draft` a verified, durable copy of the build. What it has of the snapshot before was verified then. */
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
