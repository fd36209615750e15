import { type Database, listColumns } from '../warehouse/database.ts';
import { groupHash, listGroups } from '../warehouse/row-groups.ts';
import { readTableSpecs, type TableSpec } from '../warehouse/table-spec.ts';
import { forgetTextsSql } from './text-sql.ts';

/** Rows whose hashes are recomputed in one transaction. */
const rowsPerSlice = 500_000;

/** Whether the record hashes were made by this version of DuckDB: `hash()` may differ in another. */
export async function hasOwnHashes(database: Database): Promise<boolean> {
  const rows = await database.rows('from meta.schema_version where hashed_by = version()');
  return rows.length > 0;
}

/**
 * Recomputes every record hash from the columns, in former versions too. No row changes, so no history is made. Staged rows have hashes
 * of the other version, so the caller drops them first. Known texts are forgotten, because they have such hashes. After a kill it is
 * done again.
 */
export async function rehash(database: Database): Promise<void> {
  for (const spec of readTableSpecs()) {
    const columns = await listColumns(database, spec.name);
    for (const table of spec.history ? [spec.name, `past.${spec.name}`] : [spec.name])
      await rehashTable(database, table, rehashSql(spec, columns));
    if (spec.texts) await database.run(forgetTextsSql(spec));
  }
  await database.run('update meta.schema_version set hashed_by = version()');
  await database.run('checkpoint');
}

/** The assignments of an update that sets a row's hashes. */
function rehashSql(spec: TableSpec, columns: readonly string[]): string {
  // A group that no answer has carried has no hash.
  const hashes = listGroups(spec, columns).map((group) => ({
    column: group.hash,
    value:
      group.name === 'base'
        ? groupHash(spec, group)
        : `if(${group.seenAt} is null, null, ${groupHash(spec, group)})`,
  }));
  if (hashes.length > 1)
    hashes.push({ column: 'record_hash', value: `hash(${hashes.map(({ value }) => value).join(', ')})` });
  return hashes.map(({ column, value }) => `${column} = ${value}`).join(', ');
}

async function rehashTable(database: Database, table: string, assignments: string): Promise<void> {
  const [row] = await database.rows<{ last: bigint | null }>(`select max(rowid) as last from ${table}`);
  for (let from = 0; from <= Number(row?.last ?? -1n); from += rowsPerSlice)
    await database.run(`update ${table} set ${assignments} where rowid >= $from and rowid < $to`, {
      from,
      to: from + rowsPerSlice,
    });
}
