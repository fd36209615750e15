import type { DataFolder } from '../data-folder.ts';
import type { PageLine } from '../landing/page-line.ts';
import { listSegments, pageFile } from '../landing/segment-files.ts';
import { readSql } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';
import { archivedPages, listArchived } from './archive-files.ts';

/** A page that is in the archive or the landing log. */
export interface KeptPage {
  segment: number;
  kept: 'archive' | 'landing';
  line: PageLine;
}

/** How many segments' page lines are read together. */
const batchSegments = 32;

/**
 * Pages whose line matches a pattern, in the archive and the landing log, from the newest segment to the oldest. Older files are
 * not opened once the caller stops.
 * @param database an in-memory one
 * @param segments the segments to read
 */
export async function* findPages(
  database: Database,
  folder: DataFolder,
  segments: ReadonlySet<number>,
  pattern: string,
): AsyncGenerator<KeptPage[]> {
  const landed = new Set(await listSegments(folder.landing));
  const archived = new Set(await listArchived(folder.archive));
  const kept = [...segments].filter((segment) => landed.has(segment) || archived.has(segment));
  kept.sort((a, b) => b - a);
  for (let from = 0; from < kept.length; from += batchSegments) {
    const batch = kept.slice(from, from + batchSegments);
    const pages = [
      ...(await readArchived(
        database,
        folder,
        batch.filter((segment) => archived.has(segment)),
        pattern,
      )),
      ...(await readLanded(
        database,
        folder,
        batch.filter((segment) => !archived.has(segment)),
        pattern,
      )),
    ];
    if (pages.length > 0) yield pages.sort((a, b) => b.segment - a.segment);
  }
}

async function readArchived(
  database: Database,
  { archive }: DataFolder,
  segments: readonly number[],
  pattern: string,
): Promise<KeptPage[]> {
  if (segments.length === 0) return [];
  const pages = segments.map((segment) => archivedPages(archive, segment));
  const rows = await database.rows<FoundLine>(readSql('explain/archived-pages.sql'), { pages, pattern });
  return rows.map((row) => readLine(row, 'archive'));
}

async function readLanded(
  database: Database,
  { landing }: DataFolder,
  segments: readonly number[],
  pattern: string,
): Promise<KeptPage[]> {
  if (segments.length === 0) return [];
  const pages = segments.map((segment) => pageFile(landing, segment));
  const rows = await database.rows<FoundLine>(readSql('explain/landed-pages.sql'), {
    pages,
    pattern,
  });
  return rows.map((row) => readLine(row, 'landing'));
}

interface FoundLine {
  segment: bigint;
  line: string;
}

function readLine({ segment, line }: FoundLine, kept: KeptPage['kept']): KeptPage {
  return { segment: Number(segment), kept, line: JSON.parse(line) as PageLine };
}
