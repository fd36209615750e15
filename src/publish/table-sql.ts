import { createShapeMacros, shapeQuery } from '../load/shape-query.ts';
import { factsMacroOf } from '../model/mapping-sql.ts';
import { readTableModels } from '../model/table-model.ts';
import { besideSql } from '../warehouse/build.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { addSeveral, findAgain, insertNew } from './append-rows.ts';
import { mergeSql } from './merge-sql.ts';

/** SQL that is generated for a table, with its purpose. */
export interface TableSql {
  /** `table`, `history`, `texts`, `mapping of <shape>`, `publish: <step>`. */
  part: string;
  sql: string;
}

/**
 * Lists all SQL that is generated for a table, in the order in which it runs: the table with its history and texts, the mapping of each
 * shape with the hashes that publish compares, and the statements of publish. `$files` are staging files.
 * @param database one with the tables (`withEmptyTables`)
 */
export async function listTableSql(database: Database, spec: TableSpec): Promise<TableSql[]> {
  const columns = await listColumns(database, spec.name);
  await createShapeMacros(database);
  const parts: TableSql[] = [{ part: 'table', sql: spec.create }];
  if (spec.history) parts.push({ part: 'history', sql: besideSql('history.sql', spec) });
  if (spec.texts) parts.push({ part: 'texts', sql: besideSql('texts.sql', spec) });
  const model = readTableModels().find(({ name }) => name === spec.name);
  const facts = model === undefined ? '' : factsMacroOf(model);
  if (facts !== '') parts.push({ part: 'facts of a form', sql: facts });
  for (const shape of spec.shapes)
    parts.push({ part: `mapping of ${shape}`, sql: await shapeQuery(database, spec, shape) });
  return [...parts, ...publishSql(spec, columns)].map(({ part, sql }) => ({ part, sql: endStatement(sql) }));
}

function publishSql(spec: TableSpec, columns: readonly string[]): TableSql[] {
  if (spec.publish === 'append')
    return [
      { part: 'publish: rows there are', sql: findAgain(spec) },
      { part: 'publish: new rows', sql: insertNew(spec, columns) },
      { part: 'publish: rows that came several times', sql: addSeveral(spec) },
    ];
  return Object.entries(mergeSql(spec, columns)).flatMap(([step, sql]) =>
    listStatements(`publish: ${step}`, sql),
  );
}

/** The statements of a step. If it has several, each has a name of its own. */
function listStatements(part: string, sql: unknown): TableSql[] {
  if (typeof sql === 'string') return [{ part, sql }];
  if (Array.isArray(sql)) return sql.flatMap((one) => listStatements(part, one));
  if (typeof sql !== 'object' || sql === null) return [];
  return Object.entries(sql).flatMap(([name, one]) => listStatements(`${part}.${name}`, one));
}

function endStatement(sql: string): string {
  const trimmed = sql.trim();
  return trimmed.endsWith(';') ? trimmed : `${trimmed}\n;`;
}
