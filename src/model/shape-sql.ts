import { readSql } from '../sql-text.ts';
import { landingStructure } from './describe-mapping.ts';
import { createFactsMacro } from './form-facts.ts';
import { mappingLines } from './mapping-sql.ts';
import { readRecordTree } from './record-tree.ts';
import type { MappingLine } from './row-sql.ts';
import { type Origin, readTableModels, splitList, type TableModel } from './table-model.ts';

/** What makes the rows of one table from the records of one shape. */
export interface MappingSql {
  model: TableModel;
  /** Makes the macro that the query uses; '' where it needs none. */
  macro: string;
  /** From a segment's files to the staged rows of the table, without their hashes. */
  query: string;
  /** Where each line of the query comes from. */
  origins: readonly (Origin | null)[];
}

/** The mappings of a shape, one a table. */
export function mappingSql(shape: string): MappingSql[] {
  return readTableModels()
    .filter(({ header }) => splitList(header.get('shapes')).includes(shape))
    .map((model) => tableMappingSql(model, shape));
}

/** What makes the rows of a table from the records of a shape. */
export function tableMappingSql(model: TableModel, shape: string): MappingSql {
  const lines = [...landingLines(model), ...mappingLines(model, shape)].flatMap(({ sql, origin }) =>
    sql.split('\n').map((text) => ({ sql: text, origin })),
  );
  const query = lines.map(({ sql }) => sql).join('\n');
  return { model, macro: factsMacroOf(model), query, origins: lines.map(({ origin }) => origin) };
}

/** The macro of a table's facts; '' where nothing is read from the record. */
export function factsMacroOf(model: TableModel): string {
  const tree = readRecordTree(model);
  return tree.children.size === 0 ? '' : createFactsMacro(model, tree);
}

function landingLines(model: TableModel): MappingLine[] {
  const text = readSql('landing.sql').trimEnd().replace('{record}', landingStructure(model));
  return text.split('\n').map((sql, index) => ({ sql, origin: { file: 'landing.sql', line: index + 1 } }));
}
