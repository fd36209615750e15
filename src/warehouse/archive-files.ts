import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The archived record lines of a segment; none when it has no records of its own. */
export function archivedRecords(dir: string, segment: number): string {
  return join(dir, `${segment}.parquet`);
}

/** The archived page lines of a segment: written last, so a segment that has them is archived. */
export function archivedPages(dir: string, segment: number): string {
  return join(dir, `${segment}.pages.parquet`);
}

/** Archived segments, oldest first. */
export async function listArchived(dir: string): Promise<number[]> {
  return (await readdir(dir))
    .map((name) => /^(\d+)\.pages\.parquet$/.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}
