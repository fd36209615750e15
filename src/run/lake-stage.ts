import { UsageError } from '../errors.ts';
import { attachLake, listExported } from '../export/catalog-export.ts';
import { openStore } from '../export/export.ts';
import { installExtensions } from '../export/lake-extensions.ts';
import { vacuumDuckLake, vacuumSets } from '../export/vacuum-lake.ts';
import { openDatabase } from '../warehouse/database.ts';
import { type LakeSettings, placeOf } from './export-stage.ts';

/** Fetches the extensions that the lake's format needs. @returns each with its file; empty for Parquet, which needs none */
export async function installLake(settings: LakeSettings): Promise<Map<string, string | null>> {
  const { catalog } = await placeOf(settings);
  if (catalog === undefined) return new Map();
  const database = await openEmpty(settings);
  try {
    return await installExtensions(database, catalog.extensions, settings.config.lake.extensionDirectory);
  } finally {
    database.close();
  }
}

/**
 * Removes from the lake what no kept version needs; the caller holds the run lock.
 * @returns what was removed, or would be
 * @throws UsageError for Iceberg, whose catalog or Spark does it
 */
export async function vacuumLake(
  settings: LakeSettings,
  { olderThanMs, dryRun }: { olderThanMs: number; dryRun: boolean },
): Promise<string[]> {
  const { catalog, ...place } = await placeOf(settings);
  const { format, keep, extensionDirectory } = settings.config.lake;
  if (format === 'iceberg')
    throw new UsageError(
      'an Iceberg catalog keeps and removes versions itself',
      'docs/lake.md has the procedures of Spark and of managed catalogs.',
    );
  if (catalog === undefined) return vacuumSets(openStore(place), { lake: place.lake, keep, dryRun });
  const database = await openEmpty(settings);
  try {
    await attachLake(database, catalog, extensionDirectory);
    return await vacuumDuckLake(database, new Date(Date.now() - olderThanMs), dryRun);
  } finally {
    database.close();
  }
}

function openEmpty({ config: { warehouse }, folder }: LakeSettings) {
  const { memoryLimit, threads } = warehouse;
  return openDatabase(':memory:', { memoryLimit, threads, tempDir: folder.temp });
}

/** Share of a table's rows above which its deleted rows slow every reader down. */
const manyDeletes = 0.2;

/** What a lake is, and what a reader of it waits for. */
interface Probed {
  text: string;
  /** Tables whose deletes have piled up. */
  slow: string[];
}

/** Tries the lake without exporting: extensions, catalog, credentials. @throws UsageError, LakeError */
export async function probeLake(settings: LakeSettings): Promise<Probed> {
  const { catalog, ...place } = await placeOf(settings);
  if (catalog === undefined) {
    await openStore(place).probe?.();
    return { text: place.lake, slow: [] };
  }
  const database = await openEmpty(settings);
  try {
    await attachLake(database, catalog, settings.config.lake.extensionDirectory);
    const slow: string[] = [];
    const tables = await listExported(database, catalog);
    for (const sql of tables.map((table) => ({ table, deletes: catalog.deletes(table) }))) {
      if (sql.deletes === null) continue;
      const [row] = await database.rows<{ rows: bigint; deleted: bigint }>(sql.deletes);
      if (Number(row!.deleted) > manyDeletes * Number(row!.rows)) slow.push(sql.table);
    }
    return { text: `${settings.config.lake.format}: ${catalog.address}`, slow };
  } finally {
    database.close();
  }
}
