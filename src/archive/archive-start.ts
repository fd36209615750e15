import type { DataFolder } from '../data-folder.ts';
import { type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { archivedPages, listArchived } from './archive-files.ts';

/** The point from which the archive has everything that was received. */
export interface ArchiveStart {
  /** When its first segment was opened, ISO 8601; null if it is empty. */
  at: string | null;
  /** The lowest slot of that segment's pages; null if they have none. */
  slot: number | null;
}

/** @param segments count as archived. Default: all archived segments */
export async function readArchiveStart(
  { archive }: DataFolder,
  options: Omit<DatabaseOptions, 'readOnly'>,
  segments?: readonly number[],
): Promise<ArchiveStart> {
  const [first] = segments ?? (await listArchived(archive));
  if (first === undefined) return { at: null, slot: null };
  const database = await openDatabase(':memory:', options);
  try {
    const [row] = await database.rows<{ slot: bigint | null }>(
      "select min((line ->> '$.slot')::bigint) as slot from read_parquet($pages) where kind = 'page'",
      { pages: archivedPages(archive, first) },
    );
    return { at: new Date(first).toISOString(), slot: row?.slot == null ? null : Number(row.slot) };
  } finally {
    database.close();
  }
}

/** Completes the sentence "the archive has what was received …". Pure. */
export function describeStart({ at, slot }: ArchiveStart): string {
  if (at === null) return 'at no time';
  return `since ${at}${slot === null ? '' : `, from slot ${slot} on`}`;
}
