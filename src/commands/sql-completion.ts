import type { QuerySession } from '../warehouse/query.ts';

/** Columns by table or view; those of other schemas with the schema before the name. */
export type Catalog = ReadonlyMap<string, readonly string[]>;

/** What a snapshot has to complete. */
export async function readCatalog(session: QuerySession): Promise<Catalog> {
  const result = await session.run(
    `select if(schema_name = 'main', '', schema_name || '.') || table_name, list(column_name order by column_index)::varchar[]
    from duckdb_columns()
    where database_name = current_database() and schema_name in ('main', 'meta') and not internal
    group by schema_name, table_name
    order by schema_name, table_name`,
  );
  const catalog = new Map<string, readonly string[]>();
  for await (const rows of result.rows())
    for (const [name, columns] of rows)
      catalog.set(String(name), (columns as unknown as { items: readonly string[] }).items);
  return catalog;
}

const words = ['.tables', '.columns', '.vertical', '.help', '.quit'];

/**
 * What the last word of a line may become: a table, or a column; of a table that the line names, its columns first. As
 * Node's readline takes it. Pure.
 */
export function completeSql(line: string, catalog: Catalog): [string[], string] {
  const word = /[\w.]*$/.exec(line)?.[0] ?? '';
  if (/^\s*\.\w*$/.test(line)) return [words.filter((one) => one.startsWith(word)), word];
  const [table, column] = splitColumn(word, catalog);
  if (column !== null)
    return [
      (catalog.get(table) ?? []).filter((one) => one.startsWith(column)).map((one) => `${table}.${one}`),
      word,
    ];
  const tables = [...catalog.keys()];
  if (/\b(from|join|columns)\s+[\w.]*$/i.test(line))
    return [tables.filter((one) => one.startsWith(word)), word];
  const named = tables.filter((one) => new RegExp(`\\b${one.replace('.', '\\.')}\\b`).test(line));
  const columns = (named.length > 0 ? named : tables).flatMap((one) => catalog.get(one) ?? []);
  const all = [...new Set([...columns, ...tables])].filter((one) => one.startsWith(word));
  return [all.sort(), word];
}

/** `assets.own` into table and column; null where the part before the last dot is no table. */
function splitColumn(word: string, catalog: Catalog): [string, string | null] {
  const at = word.lastIndexOf('.');
  const table = word.slice(0, at);
  return at > 0 && catalog.has(table) ? [table, word.slice(at + 1)] : [word, null];
}
