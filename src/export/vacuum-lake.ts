import type { Database } from '../warehouse/database.ts';
import { setsOf } from './lake-manifest.ts';
import type { LakeStore } from './lake-store.ts';

/**
 * Removes the sets of every table of the lake but the newest, also of tables that are no longer exported.
 * @returns what was removed, or would be
 */
export async function vacuumSets(
  store: LakeStore,
  { lake, keep, dryRun }: { lake: string; keep: number; dryRun: boolean },
): Promise<string[]> {
  const removed: string[] = [];
  for (const table of await store.listTables()) {
    const ids = await store.openTable(table, !dryRun);
    for (const id of ids.slice(0, Math.max(0, ids.length - keep))) {
      removed.push(`${lake}/${setsOf(table)}/${id}`);
      if (!dryRun) await store.removeSet(table, id);
    }
  }
  return removed;
}

/**
 * Removes versions of a DuckLake from before a time, and the files that only they needed.
 * @param database has it attached as `lake`
 * @returns what was removed, or would be
 */
export async function vacuumDuckLake(database: Database, before: Date, dryRun: boolean): Promise<string[]> {
  const expired = await database.rows<{ snapshot_id: bigint }>(
    `select snapshot_id from ducklake_expire_snapshots('lake', older_than => $before::timestamptz, dry_run => ${dryRun})`,
    { before: before.toISOString() },
  );
  const files = await database.rows<{ path: string }>(
    `select path from ducklake_cleanup_old_files('lake', cleanup_all => true, dry_run => ${dryRun})`,
  );
  return [...expired.map(({ snapshot_id: id }) => `version ${id}`), ...files.map(({ path }) => path)];
}
