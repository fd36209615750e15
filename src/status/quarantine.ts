import type { DataFolder } from '../data-folder.ts';
import { readSql } from '../sql-text.ts';
import { checkVersion } from '../warehouse/build.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../warehouse/database.ts';
import { requireSnapshot } from '../warehouse/open-snapshot.ts';

/** A field or record that did not fit, of `meta.quarantine`. */
export interface QuarantineEntry {
  /** 12 hexadecimal digits that name it. */
  id: string;
  table: string;
  /** Null where its task has no checkpoint any more. */
  job: string | null;
  target: string | null;
  key: string | null;
  /** Null: the whole record. */
  column: string | null;
  reason: string;
  raw: string | null;
  task: string;
  crawl: string;
  page: number;
  slot: bigint | null;
}

/** Which entries; a missing member selects all. */
export interface QuarantineFilter {
  jobs?: readonly string[];
  table?: string | undefined;
  reason?: string | undefined;
  /** Id of an entry, its beginning, or the key. */
  named?: string;
  /** Key of a row. */
  key?: string;
}

/** Reads the entries that a filter selects, by job, table and key. @param limit their maximum number */
export function readQuarantine(
  database: Database,
  { jobs = [], table, reason, named, key }: QuarantineFilter,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<QuarantineEntry[]> {
  return database.rows<QuarantineEntry>(
    `from (${readSql('explain/quarantine.sql')})
    where (len($jobs) = 0 or job in (select unnest($jobs)))
      and "table" = coalesce($table, "table")
      and contains(lower(reason), lower(coalesce($reason, '')))
      and ($named is null or starts_with(id, $named) or key = $named)
      and ($key is null or key = $key)
    order by job, "table", key, "column", id
    limit $limit`,
    {
      jobs,
      table: table ?? null,
      reason: reason ?? null,
      named: named ?? null,
      key: key ?? null,
      limit,
    },
  );
}

/** Entries with the same job, table, column and reason. */
export interface QuarantineGroup {
  job: string | null;
  table: string;
  column: string | null;
  reason: string;
  entries: number;
  /** One of them. */
  id: string;
  key: string | null;
  /** The beginning of its text. */
  raw: string | null;
}

/** Groups entries by their problem, largest group first. Pure. */
export function groupQuarantine(entries: readonly QuarantineEntry[]): QuarantineGroup[] {
  const groups = new Map<string, QuarantineGroup>();
  for (const { job, table, column, reason, id, key, raw } of entries) {
    const name = JSON.stringify([job, table, column, reason]);
    const group = groups.get(name);
    if (group === undefined)
      groups.set(name, { job, table, column, reason, entries: 1, id, key, raw: cutRaw(raw) });
    else group.entries += 1;
  }
  return [...groups.values()].sort((a, b) => b.entries - a.entries);
}

function cutRaw(raw: string | null): string | null {
  return raw === null || raw.length <= 80 ? raw : `${raw.slice(0, 79)}…`;
}

/** Opens the snapshot to read from it. @throws UsageError where there is none */
export async function withSnapshot<T>(
  folder: DataFolder,
  { memoryLimit, threads, tempDir, signal }: Omit<DatabaseOptions, 'readOnly'>,
  work: (snapshot: Database) => Promise<T>,
): Promise<T> {
  await requireSnapshot(folder.snapshot);
  const snapshot = await openDatabase(folder.snapshot, {
    ...{ memoryLimit, threads, tempDir, readOnly: true },
    signal,
  });
  try {
    await checkVersion(snapshot);
    return await work(snapshot);
  } finally {
    snapshot.close();
  }
}
