import { hasSql, readSql } from '../sql-text.ts';
import { type Cast, castsOf, type RecordText } from './column-sql.ts';
import { jsonPath, type RecordNode, readRecordTree, structureOf } from './record-tree.ts';
import { groupNames } from './table-ddl.ts';
import type { Column, TableModel } from './table-model.ts';

/** Everything from which the steps of a mapping are generated. */
export interface Mapping {
  model: TableModel;
  tree: RecordNode;
  text: RecordText;
  handWritten: HandWrittenSql | null;
  /** The table's columns that are read from the record, without `extra` and those of sql/bookkeeping.sql. */
  columns: readonly Column[];
  /** Casts of slots in the record: `own_slot` of the row, `own_<group>_slot` of a group. */
  slots: readonly Cast[];
  casts: readonly Cast[];
  groups: readonly string[];
}

/** True if records are read as typed structs, with facts of their forms; else as JSON, which the mapping takes apart. */
export function readsForms({ header }: TableModel): boolean {
  return header.get('forms') === 'yes';
}

/** The structure (for from_json) in which sql/landing.sql reads the table's records. */
export function landingStructure(model: TableModel): string {
  return readsForms(model) ? structureOf(readRecordTree(model)) : '"JSON"';
}

/** Describes how the records of one shape become rows of a table. */
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
    handWritten: readHandWrittenSql(model, shape),
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

/** The hand-written part of a mapping, `sql/shapes/<shape>/<table>.sql`: common table expressions between two steps. */
export interface HandWrittenSql {
  file: string;
  /** The step that they read: `record`, `typed` (after the casts) or `mapped` (rows with all columns). */
  after: 'record' | 'typed' | 'mapped';
  /** The name of the last expression, which the next step reads. */
  last: string;
  /** The lines, with their numbers in the file. */
  lines: readonly { sql: string; line: number }[];
  /** `-- rows: usable`: records without a usable key make no rows here, because another table quarantines them. */
  usableOnly: boolean;
  /** `-- cast errors:`: `none` if another table has them; or a column with a list of further ones. */
  errors: string | null;
}

/** The hand-written part for the records of one shape; null if the table has none. */
export function readHandWrittenSql({ name }: TableModel, shape: string): HandWrittenSql | null {
  const file = `shapes/${shape}/${name}.sql`;
  if (!hasSql(file)) return null;
  const text = readSql(file);
  const word = (name: string) => new RegExp(`^-- ${name}: (.*)$`, 'm').exec(text)?.[1] ?? null;
  const after = word('after');
  if (after !== 'record' && after !== 'typed' && after !== 'mapped')
    throw new Error(`sql/${file}: its header needs "-- after: record", "typed" or "mapped"`);
  const lines = text.split('\n').map((sql, index) => ({ sql, line: index + 1 }));
  return {
    file,
    after,
    last: [...text.matchAll(/^(\w+) as \($/gm)].at(-1)?.[1] ?? after,
    lines: lines.filter(({ sql }) => sql.trim() !== '' && !sql.startsWith('--')),
    usableOnly: word('rows') === 'usable',
    errors: word('cast errors'),
  };
}
