import { homedir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';
import { quoteText } from '../sql-text.ts';
import type { Database } from '../warehouse/database.ts';

/**
 * Loads DuckDB's extensions from files of this machine; nothing is fetched. DuckDB checks the signature.
 * @param directory `lake.extension_directory`; null: where DuckDB keeps them
 * @throws UsageError naming those that are missing
 */
export async function loadExtensions(
  database: Database,
  names: readonly string[],
  directory: string | null,
): Promise<void> {
  const files = await requireExtensions(database, names, directory);
  for (const file of files) await database.run(`load ${quoteText(file)}`);
}

/** Files of the extensions. @throws UsageError naming those that are missing */
export async function requireExtensions(
  database: Database,
  names: readonly string[],
  directory: string | null,
): Promise<string[]> {
  const files = await findExtensions(database, names, directory);
  const missing = names.filter((name) => files.get(name) === null);
  if (missing.length > 0)
    throw new UsageError(
      `the lake needs DuckDB's extension ${missing.join(', ')}, which is not installed`,
      'Run `ledgerlake lake install` once, with a network; or name a folder that has the files with lake.extension_directory.',
    );
  return [...files.values()].map((file) => file!);
}

/** The file of each extension; null for one that is not there. */
export async function findExtensions(
  database: Database,
  names: readonly string[],
  directory: string | null,
): Promise<Map<string, string | null>> {
  const [row] = await database.rows<{ version: string; platform: string }>(
    'select version() as version, platform from pragma_platform()',
  );
  const { version, platform } = row!;
  const root = directory ?? join(homedir(), '.duckdb', 'extensions');
  const files = new Map<string, string | null>();
  for (const name of names) {
    const file = `${name}.duckdb_extension`;
    const candidates = [join(root, file), join(root, version, platform, file)];
    const found = await Promise.all(candidates.map(exists));
    files.set(name, candidates[found.indexOf(true)] ?? null);
  }
  return files;
}

/** Fetches extensions, signed and of DuckDB's own version, from its repository. @returns their files */
export async function installExtensions(
  database: Database,
  names: readonly string[],
  directory: string | null,
): Promise<Map<string, string | null>> {
  if (directory !== null) await database.run(`set extension_directory = ${quoteText(directory)}`);
  const files = await findExtensions(database, names, directory);
  for (const name of names) if (files.get(name) === null) await database.run(`install ${name}`);
  return findExtensions(database, names, directory);
}
