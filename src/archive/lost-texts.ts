import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readSql } from '../sql-text.ts';
import { type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { writeArchive } from './archive.ts';
import { isArchiveDamage, listArchived } from './archive-files.ts';

const lostFile = /^\d+\.lost\.parquet$/;

/**
 * Files with the names and digests of texts whose record file was set aside. By them, page lines that name such a text find it
 * in a later record file, once the same text was archived again.
 */
export async function listLostTexts(archive: string): Promise<string[]> {
  return (await readdir(archive)).filter((name) => lostFile.test(name)).map((name) => join(archive, name));
}

/**
 * Writes `<n>.lost.parquet` for the damaged record file `<n>.parquet`, before it is set aside; durable once the folder is
 * synced. Writes nothing if the damage is in the names or digests.
 */
export async function recordLostTexts(
  file: string,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<void> {
  const database = await openDatabase(':memory:', options);
  try {
    const lost = file.replace(/\.parquet$/, '.lost.parquet');
    await writeArchive(database, lost, readSql('archive/lost-texts.sql'), { file });
  } catch (error) {
    if (!isArchiveDamage(error)) throw error;
  } finally {
    database.close();
  }
}

/** Removes the files of lost texts that no page names: those written before the oldest archived segment was begun. */
export async function removeLostTexts(archive: string): Promise<void> {
  const [oldest = Number.POSITIVE_INFINITY] = await listArchived(archive);
  for (const file of await listLostTexts(archive)) if ((await stat(file)).mtimeMs < oldest) await rm(file);
}
