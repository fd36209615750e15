import { everyElementFits, listOf, mustBeTexts } from './column-sql.ts';
import { type Mapping, textAt } from './describe-mapping.ts';
import { elementKinds } from './form-facts.ts';
import { listLists, listObjects, memberOf } from './record-tree.ts';
import type { Column, Origin } from './table-model.ts';

type Piece = readonly [sql: string, origin: Origin | null];

/** A check of a column: its name in `meta.quarantine`, SQL of the text in the record, and SQL of the value it was cast to. */
interface Check {
  name: string;
  raw: string;
  value: string;
  origin: Origin;
}

function checksOf({ slots, casts, columns }: Mapping): Check[] {
  const cast = [...slots, ...casts].flatMap(({ column, name, raw }) =>
    raw === null ? [] : { name: column.name, raw, value: name, origin: column },
  );
  const written = columns.flatMap((column) =>
    column.sql === null || column.raw === null
      ? []
      : { name: column.name, raw: column.raw, value: column.sql, origin: column },
  );
  return [...cast, ...written];
}

/** Conditions, one of which is true if a record has a cast error; they may also be true if it has none. */
export function mayFail(mapping: Mapping): Piece[] {
  const { tree, columns, handWritten } = mapping;
  const facts: Piece[] =
    listObjects(tree).length > 1 || listLists(tree).length > 0
      ? [['facts.other_kinds is not false', null]]
      : [];
  const elements = columns.flatMap((column): Piece[] => {
    const fits = everyElementFits(column, listOf(column));
    if (column.from.length > 0 && fits !== null) return [[`${fits} is false`, column]];
    return mustBeTexts(column) && column.from.length > 0
      ? [[`has_cast_error_element(${listOf(column)}, '$[*]', 'VARCHAR')`, column]]
      : [];
  });
  const more: Piece[] =
    handWritten === null || handWritten.errors === null || handWritten.errors === 'none'
      ? []
      : [[`list_count(${handWritten.errors}) > 0`, null]];
  return [
    ['not usable', null],
    ...facts,
    ...checksOf(mapping).map(({ raw, value, origin }): Piece => [`is_cast_error(${raw}, ${value})`, origin]),
    ...elements,
    ...more,
  ];
}

/** The column `cast_errors`: why a record makes no row, or which of its values could not be cast. */
export function castErrors(mapping: Mapping): [string, string, Origin | null][] {
  const { model, handWritten, text } = mapping;
  if (handWritten?.errors === 'none')
    return [['[]::struct(column_name varchar, reason varchar, raw varchar)[]', 'cast_errors', null]];
  const entries = [
    ...objectErrors(mapping),
    ...checksOf(mapping).map(({ name, raw, value }) => `cast_error('${name}', ${raw}, ${value})`),
  ];
  const all = [...entries, ...listErrors(mapping)];
  const more = handWritten?.errors == null ? '' : ` || ${handWritten.errors}`;
  const whole =
    text.column === 'line' ? `nullif((${textAt(mapping, [])})::varchar, 'null')` : 'record::varchar';
  const reason = model.header.get('unusable') ?? `'no usable key'`;
  const unusable = `[{'column_name': null::varchar, 'reason': coalesce(refusal, ${reason}), 'raw': coalesce(raw, ${whole})}]`;
  const list = all.length === 0 ? `[]${more}` : `[\n      ${all.join(',\n      ')}\n    ]${more}`;
  return [
    [
      `case
    when not usable then ${unusable}
    when may_fail then list_filter(${list}, lambda entry: entry is not null)
    else []
  end`,
      'cast_errors',
      null,
    ],
  ];
}

function objectErrors({ tree }: Mapping): string[] {
  return listObjects(tree)
    .slice(1)
    .map(({ path }, index) => `object_cast_error('${path.at(-1)}', objects[${index + 1}])`);
}

function listErrors({ tree, columns }: Mapping): string[] {
  const whole: string[] = [];
  const elements: string[] = [];
  for (const node of listLists(tree)) {
    const column = node.column as Column;
    const [json, read] = [
      memberOf('lists', node.path),
      column.marks.has('map') ? column.name : memberOf('r', node.path),
    ];
    whole.push(`cast_error('${column.name}', ${json}, ${read})`);
    const fits = everyElementFits(column, `coalesce(${read}, [])`);
    if (fits !== null)
      whole.push(`cast_error('${column.name}', ${json}, case when ${fits} is not false then true end)`);
    elements.push(
      ...elementKinds(node).map(
        ([path, kind]) => `element_cast_error('${column.name}', ${json}, '${path}', '${kind}')`,
      ),
    );
  }
  for (const column of columns.filter((one) => one.from.length > 0 && mustBeTexts(one)))
    elements.push(`element_cast_error('${column.name}', ${listOf(column)}, '$[*]', 'VARCHAR')`);
  return [...whole, ...elements];
}
