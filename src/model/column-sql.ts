import { jsonPath, memberOf } from './record-tree.ts';
import type { Column, Member } from './table-model.ts';

/** The column that holds a record's text, and the path to the record in it. */
export interface RecordText {
  column: 'line' | 'record';
  root: '$.record' | '$';
}

/** A value of a column from one path of the record, and the text that it is checked against. */
export interface Cast {
  column: Column;
  path: readonly string[];
  /** The name of the cast value. */
  name: string;
  /** SQL of the cast; null if the text is the value. */
  value: string | null;
  /** SQL of the text in the record; null if the cast cannot fail. */
  raw: string | null;
}

const castMacros: Record<string, string> = {
  ubigint: 'as_ubigint',
  bigint: 'as_bigint',
  integer: 'as_integer',
  double: 'as_double',
  boolean: 'as_boolean',
  timestamptz: 'as_time',
};

/** The casts of a column, one per path, except for lists of objects. */
export function castsOf(column: Column, text: RecordText): Cast[] {
  return column.from.map((from, index): Cast => {
    const path = from.split('.');
    const member = memberOf('r', path);
    const name = `${column.name}${index === 0 ? '' : `_${index + 1}`}`;
    return {
      column,
      path,
      name,
      ...castOf(column, member, `${text.column}, '${jsonPath(text.root, path)}'`),
    };
  });
}

function castOf({ type, marks, via }: Column, member: string, at: string): Pick<Cast, 'value' | 'raw'> {
  if (via !== null) return { value: `${via}(${member})`, raw: `${member} ->> '$'` };
  if (marks.has('text')) return { value: `as_text(${member}, ${at})`, raw: member };
  if (marks.has('slot')) return { value: `as_slot(${member}, slot_ceiling)`, raw: `nullif(${member}, '0')` };
  if (marks.has('any')) return { value: `from_json(${member}, '["VARCHAR"]')`, raw: `${member}::varchar` };
  if (type === 'varchar[]') return { value: `text_list(${member})`, raw: `${member} ->> '$'` };
  if (type === 'bigint[]') return { value: `bigint_list(${member})`, raw: `${member} ->> '$'` };
  const macro = castMacros[type];
  return macro === undefined ? { value: null, raw: null } : { value: `${macro}(${member})`, raw: member };
}

/** Whether the elements of a list of texts must be texts. */
export function mustBeTexts({ type, marks, via }: Column): boolean {
  return type === 'varchar[]' && via === null && !marks.has('any');
}

/** SQL of the list that a column of lists is read from. */
export function listOf({ from }: Column): string {
  return memberOf('r', (from[0] ?? '').split('.'));
}

/** SQL of a list of objects with each member cast. */
export function listValue(column: Column): string {
  const { members } = column;
  const list = listOf(column);
  if (members.every((member) => memberValue(member) === memberOf('element', [member.name]))) return list;
  const values = members.map((member) => `'${member.name}': ${memberValue(member)}`);
  return `list_transform(${list}, lambda element: {${values.join(', ')}})`;
}

function memberValue({ name, type, nonempty }: Member): string {
  const member = memberOf('element', [name]);
  if (nonempty) return `nullif(${member}, '')`;
  return castMacros[type] === undefined ? member : `${castMacros[type]}(${member})`;
}

/** SQL: whether every member of every element of `list` was cast; null if no cast can fail. */
export function everyElementFits({ members }: Column, list: string): string | null {
  const conditions = members.flatMap(({ name, type }) => {
    const member = memberOf('element', [name]);
    return castMacros[type] === undefined
      ? []
      : `(${member} is null or ${castMacros[type]}(${member}) is not null)`;
  });
  if (conditions.length === 0) return null;
  return `list_bool_and(list_transform(${list}, lambda element: ${conditions.join(' and ')}))`;
}

/** SQL of a column's value in the row. */
export function columnValue(column: Column, casts: readonly Cast[]): string {
  const { marks, condition } = column;
  const values = casts.map(({ name, path, value }) => (value === null ? memberOf('r', path) : name));
  const read = (column.sql === null ? values : [column.sql]).map((value) =>
    marks.has('nonempty') ? `nullif(${value}, '')` : value,
  );
  const value =
    read.length === 0
      ? column.name
      : read.length === 1
        ? (read[0] as string)
        : `coalesce(${read.join(', ')})`;
  const when = marks.has('key') ? 'usable' : condition;
  return when === null ? value : `case when ${when} then ${value} end`;
}
