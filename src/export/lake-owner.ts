import { randomUUID } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../errors.ts';
import { syncDirectory, writeSynced } from '../landing/segment-files.ts';

/**
 * A lake belongs to one data folder, so that a test environment with the lake of production in its config cannot
 * replace production's tables. Each data folder has a random id, and a lake names the id of the folder it belongs to.
 */
export interface LakeOwner {
  /** File of the data folder's id. */
  idFile: string;
  /** Whether the lake is in the data folder itself. Then it is bound by its place, also when the id was lost. */
  isInside: boolean;
}

/** The data folder's id; null before its first export. */
export async function readFolderId({ idFile }: LakeOwner): Promise<string | null> {
  return readFile(idFile, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      // A path below a file is reported where the data folder is made.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
      throw error;
    },
  );
}

/** The data folder's id, made on first use. */
export async function makeFolderId(owner: LakeOwner): Promise<string> {
  const known = await readFolderId(owner);
  if (known !== null) return known;
  const id = randomUUID();
  await writeSynced(`${owner.idFile}.tmp`, `${id}\n`);
  await rename(`${owner.idFile}.tmp`, owner.idFile);
  await syncDirectory(dirname(owner.idFile));
  return id;
}

/**
 * @param found the id that the lake names; null if it names none
 * @param remedy what to do if the other data folder is gone for good
 * @throws UsageError when the lake belongs to another data folder
 */
export function refuseForeignLake(
  lake: string,
  { found, own, isInside }: { found: string | null; own: string | null; isInside: boolean },
  remedy: string,
): void {
  if (found === null || found === own || isInside) return;
  throw new UsageError(
    `lake.uri: ${lake} belongs to another data folder`,
    `Name a lake of its own for each data folder. If the other one is gone for good: ${remedy}.`,
  );
}
