import { findPages } from '../archive/find-pages.ts';
import type { DataFolder } from '../data-folder.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { requestOf } from './explain-row.ts';
import type { QuarantineEntry } from './quarantine.ts';

/** Where the page of a quarantined record is kept, and the request that brought it. */
export interface LocatedPage {
  run: string;
  operation: string;
  /** Never the key. */
  request: Readonly<Record<string, unknown>>;
  received_at: string;
  segment: number;
  kept: 'archive' | 'landing';
}

/** The page of an entry; null when it is not kept any more. */
export async function locateEntry(
  folder: DataFolder,
  snapshot: Database,
  { task, crawl, page }: QuarantineEntry,
  options: Omit<DatabaseOptions, 'readOnly'>,
): Promise<LocatedPage | null> {
  const rows = await snapshot.rows<{ segment: bigint }>('select segment from meta.segments');
  const segments = new Set(rows.map(({ segment }) => Number(segment)));
  const database = await openDatabase(':memory:', options);
  try {
    for await (const [match] of findPages(database, folder, segments, pagePattern(task, crawl, page))) {
      if (match === undefined) continue;
      const { segment, kept, line } = match;
      const { run, operation, received_at } = line;
      return { run, operation, request: requestOf(line), received_at, segment, kept };
    }
    return null;
  } finally {
    database.close();
  }
}

/** Matches the line of one page; tasks and crawls are plain ASCII. */
function pagePattern(task: string, crawl: string, page: number): string {
  return `"task":"${task}","crawl":"${crawl}".*"page":${page},`;
}
