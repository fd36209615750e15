import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';

/** Files below a folder that hold one of the texts, as bytes or in a table that is compressed: `path: text`. */
export async function scanFolder(folder: string, texts: readonly string[]): Promise<string[]> {
  const hits: string[] = [];
  const database = await openDatabase(':memory:', { memoryLimit: '512MB', threads: 2, tempDir: '' });
  try {
    await database.run(`create table texts as select unnest([${texts.map(quote).join(', ')}]) as text`);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      const bytes = readBytes(path);
      if (bytes === null) continue;
      for (const text of texts) if (bytes.includes(text)) hits.push(`${name}: ${text}`);
      for (const found of await scanTables(database, path)) hits.push(`${name}, ${found}`);
    }
  } finally {
    database.close();
  }
  return hits;
}

/** The texts that stand in a text. */
export function scanText(text: string, texts: readonly string[]): string[] {
  return texts.filter((one) => text.includes(one));
}

function readBytes(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return null;
    throw error;
  }
}

async function scanTables(database: Database, path: string): Promise<string[]> {
  if (path.endsWith('.parquet')) return scanTable(database, `read_parquet(${quote(path)})`);
  if (!path.endsWith('.duckdb')) return [];
  await database.run(`attach ${quote(path)} as scanned (read_only)`);
  try {
    const tables = await database.rows<{ name: string }>(
      `select format('scanned."{}"."{}"', schema_name, table_name) as name from duckdb_tables() where database_name = 'scanned'`,
    );
    const hits: string[] = [];
    for (const { name } of tables) hits.push(...(await scanTable(database, name)));
    return hits;
  } finally {
    await database.run('detach scanned');
  }
}

async function scanTable(database: Database, table: string): Promise<string[]> {
  const columns = await database.rows<{ column_name: string }>(`describe select * from ${table}`);
  const isIn = columns.map(({ column_name }) => `contains("${column_name}"::varchar, text)`).join(' or ');
  const found = await database.rows<{ text: string }>(
    `select text from texts where exists (select 1 from ${table} as t where ${isIn}) order by text`,
  );
  return found.map(({ text }) => `${table}: ${text}`);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
