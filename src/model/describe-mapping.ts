import { type Cast, castsOf, type RecordText } from './column-sql.ts';
import { type OwnSql, readOwnSql } from './own-sql.ts';
import { jsonPath, type RecordNode, readRecordTree, structureOf } from './record-tree.ts';
import { groupNames } from './table-ddl.ts';
import type { Column, TableModel } from './table-model.ts';

/** What the steps of a mapping are made from. */
export interface Mapping {
  model: TableModel;
  tree: RecordNode;
  text: RecordText;
  own: OwnSql | null;
  /** The table's columns that the record is read for, `extra` and those of sql/bookkeeping.sql left out. */
  columns: readonly Column[];
  /** Slots that stand in the record: `own_slot` of the row, `own_<group>_slot` of a group. */
  slots: readonly Cast[];
  casts: readonly Cast[];
  groups: readonly string[];
}

/** True where the record is read as it is typed, with what its form says; else as JSON, taken apart by the mapping. */
export function readsForms({ header }: TableModel): boolean {
  return header.get('forms') === 'yes';
}

/** The structure that sql/landing.sql reads records of the table in. */
export function landingStructure(model: TableModel): string {
  return readsForms(model) ? structureOf(readRecordTree(model)) : '"JSON"';
}

/** What makes the rows of a table from the records of one shape. */
export function describeMapping(model: TableModel, shape: string): Mapping {
  const text: RecordText = readsForms(model)
    ? { column: 'line', root: '$.record' }
    : { column: 'record', root: '$' };
  const groups = groupNames(model.header);
  const slotNames = ['slot', ...groups.map((name) => `${name}_slot`)];
  const slots = slotNames.flatMap((slot) => {
    const column = model.columns.find(({ name, from }) => name === slot && from.length > 0);
    const cast = column === undefined ? [] : castsOf({ ...column, marks: new Set(['slot']) }, text);
    return cast.map((one) => ({ ...one, name: `own_${slot}` }));
  });
  const columns = model.columns.filter(
    (column) => column.type !== '' && column.name !== 'seen_at' && column.name !== 'extra',
  );
  const casts = columns.flatMap((column) => (column.members.length > 0 ? [] : castsOf(column, text)));
  return {
    model,
    tree: readRecordTree(model),
    text,
    own: readOwnSql(model, shape),
    columns,
    slots,
    casts,
    groups,
  };
}

/** The JSON at a path of the record. */
export function textAt({ text: { column, root } }: Pick<Mapping, 'text'>, path: readonly string[]): string {
  return path.length === 0 && root === '$' ? column : `${column} -> '${jsonPath(root, path)}'`;
}
