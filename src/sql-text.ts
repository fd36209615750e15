import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { packageRoot } from './package-root.ts';

const root = new URL('sql/', packageRoot);

/** The text of a file in `sql/`. */
export function readSql(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** Whether `sql/` has the file. */
export function hasSql(path: string): boolean {
  return existsSync(new URL(path, root));
}

/** Names of the files in a folder of `sql/`, without `.sql`, sorted. */
export function listSql(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
}

/** Names of the folders in a folder of `sql/`, sorted. */
export function listFolders(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** A name as an SQL identifier. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text as an SQL literal. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
