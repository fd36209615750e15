import { castErrors, mayFail } from './cast-errors.ts';
import {
  type Cast,
  castsOf,
  columnValue,
  everyElementFits,
  listValue,
  type RecordText,
} from './column-sql.ts';
import { extraColumns } from './extra-sql.ts';
import { factsMacro } from './form-facts.ts';
import { type OwnSql, readOwnSql } from './own-sql.ts';
import {
  jsonPath,
  listObjects,
  listsStructure,
  memberOf,
  type RecordNode,
  readRecordTree,
  stagedOnly,
  structureOf,
} from './record-tree.ts';
import { groupNames } from './table-ddl.ts';
import type { Column, Origin, TableModel } from './table-model.ts';

/** A line of a mapping, and where it comes from; null: from no line in particular. */
export interface MappingLine {
  sql: string;
  origin: Origin | null;
}

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

/** The rest of a mapping after sql/landing.sql: from `record` to the staged rows of the table. */
export function mappingLines(model: TableModel, shape: string): MappingLine[] {
  const mapping = describeMapping(model, shape);
  const { own } = mapping;
  const steps = [
    ...ownStep(own, 'record'),
    ...parsedStep(mapping, own?.after === 'record' ? own.last : 'record'),
    ...typedStep(mapping),
    ...ownStep(own, 'typed'),
    ...checkedStep(mapping, own?.after === 'typed' ? own.last : 'typed'),
  ];
  if (own?.after !== 'mapped') return [...endSteps(steps), ...rowsStep(mapping, 'checked')];
  const mapped = [line('mapped as ('), ...rowsStep(mapping, 'checked', ['record', 'usable']), line('),')];
  const names = outputs(mapping).map(([, name]) => line(`  ${name},`));
  const all = endSteps([...steps, ...mapped, ...ownStep(own, 'mapped')]);
  return [...all, line('select'), ...names, line(`from ${own.last}`)];
}

/** No comma after the last common table expression. */
function endSteps(steps: readonly MappingLine[]): MappingLine[] {
  const last = steps.at(-1) as MappingLine;
  return [...steps.slice(0, -1), { ...last, sql: last.sql.replace(/,$/, '') }];
}

function describeMapping(model: TableModel, shape: string): Mapping {
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

function line(sql: string, origin: Origin | null = null): MappingLine {
  return { sql, origin };
}

function ownStep(own: OwnSql | null, after: OwnSql['after']): MappingLine[] {
  if (own?.after !== after) return [];
  return own.lines.map(({ sql, line: number }) => line(sql, { file: own.file, line: number }));
}

function parsedStep({ model, tree, text }: Mapping, from: string): MappingLine[] {
  const facts = factsMacro(model);
  if (text.column === 'line')
    return [
      `told as (select form, ${facts}("like") as facts from form),`,
      'parsed as (',
      '  select',
      '    record.* exclude (record),',
      '    record as r,',
      '    -- Not coalesce, of which DuckDB computes parts for every record beforehand.',
      `    case when told.facts is null then ${facts}(json_extract(line, '$.record')) else told.facts end as facts`,
      `  from ${from} as record`,
      '  left join told using (form)',
      '),',
    ].map((sql) => line(sql));
  const read =
    tree.children.size === 0
      ? []
      : [`    from_json(record, '${structureOf(tree)}') as r,`, `    ${facts}(record) as facts`];
  return ['parsed as (', '  select', '    *,', ...read, `  from ${from}`, '),'].map((sql) => line(sql));
}

/** Casts what may fail, once. */
function typedStep({ model, columns, slots, casts }: Mapping): MappingLine[] {
  const values = [...slots, ...casts].flatMap(({ column, name, value }) =>
    value === null ? [] : line(`    ${value} as ${name},`, column),
  );
  const keys = columns.flatMap((column) =>
    column.marks.has('key') && column.sql !== null
      ? line(`    ${column.sql} as ${column.name},`, column)
      : [],
  );
  const lists = columns.flatMap((column) => {
    const fits =
      column.members.length === 0
        ? null
        : everyElementFits(column, memberOf('r', (column.from[0] ?? '').split('.')));
    return fits === null || column.from.length === 0
      ? []
      : line(`    ${listValue(column)} as ${column.name},`, column);
  });
  const usable = line(`    (${model.header.get('usable') ?? 'true'}) is true as usable`, {
    file: `tables/${model.name}.sql`,
    line: 1,
  });
  return [
    line('typed as ('),
    line('  select'),
    line('    *,'),
    ...values,
    ...lists,
    ...keys,
    usable,
    line('  from parsed'),
    line('),'),
  ];
}

/** Finds the records of which something may be a cast error: few, which are looked at once more. */
function checkedStep(mapping: Mapping, from: string): MappingLine[] {
  const { tree, text, columns } = mapping;
  const maps = columns.filter((column) => column.marks.has('map'));
  const conditions = mayFail(mapping);
  const valued = [
    line('valued as ('),
    line('  select'),
    line('    *,'),
    ...maps.map((column) => line(`    ${mapValue(column, text)} as ${column.name},`, column)),
    ...conditions.map(([sql, origin], index) => line(`    ${index === 0 ? '' : '  or '}${sql}`, origin)),
    line('      as may_fail'),
    line(`  from ${from}`),
    line('),'),
  ];
  const objects = listObjects(tree).slice(1);
  const lists = listsStructure(tree);
  const paths = objects.map(({ path }) => `'${jsonPath(text.root, path)}'`).join(', ');
  const structure = text.column === 'line' ? `{"record": ${lists}}` : lists;
  const opened = [
    ...(objects.length === 0
      ? []
      : [`case when may_fail then json_extract(${text.column}, [${paths}]) end as objects`]),
    ...(lists === null
      ? []
      : [
          `case when may_fail then from_json(${text.column}, '${structure}')${text.column === 'line' ? '.record' : ''} end as lists`,
        ]),
  ];
  const select = ['*', ...opened].map((sql) => `    ${sql},`);
  return [
    ...valued,
    ...['checked as (', '  select', ...select, '  from valued', '),'].map((sql) => line(sql)),
  ];
}

/** A list that may be a map, which has no order: in that of its keys, so that it is the same however it was written. */
function mapValue({ from, members }: Column, text: RecordText): string {
  const path = (from[0] ?? '').split('.');
  const [key, value] = members.map(({ name }) => name);
  const entries = `map_entries(from_json(${text.column} -> '${jsonPath(text.root, path)}', '"MAP(VARCHAR, VARCHAR)"'))`;
  const pairs = `list_sort(list_transform(${entries}, lambda pair: {'${key}': pair.key, '${value}': pair.value}))`;
  return `case when facts.map_${path.join('_')} then ${pairs} else ${memberOf('r', path)} end`;
}

/** The staged row: where it comes from, its slots and groups, its columns, and what could not be cast. */
function rowsStep(mapping: Mapping, from: string, more: readonly string[] = []): MappingLine[] {
  const { own } = mapping;
  const items = outputs(mapping).map(([sql, name, origin]) =>
    line(`  ${sql === name ? name : `${sql} as ${name}`},`, origin),
  );
  const where = own?.usableOnly === true ? [line('where usable')] : [];
  return [
    line('select'),
    ...items,
    ...more.map((name) => line(`  ${name},`)),
    line(`from ${from}`),
    ...where,
  ];
}

function outputs(mapping: Mapping): [sql: string, name: string, origin: Origin | null][] {
  const { model, columns, casts } = mapping;
  const values = columns.map((column): [string, string, Origin] => {
    const own = casts.filter((cast) => cast.column === column);
    const isMade =
      column.marks.has('map') || (column.members.length > 0 && everyElementFits(column, '') !== null);
    if (column.members.length > 0 && column.from.length > 0)
      return [isMade ? column.name : listValue(column), column.name, column];
    const made = column.marks.has('key') && column.sql !== null ? { ...column, sql: column.name } : column;
    return [columnValue(made, own), column.name, column];
  });
  const staged = [...stagedOnly(model.header)].map(([name, sql]): [string, string, null] => [
    sql,
    name,
    null,
  ]);
  return [
    ...['task', 'crawl', 'page', 'n', 'run_id', 'seen_at'].map((name): [string, string, null] => [
      name,
      name,
      null,
    ]),
    ...slotColumns(mapping),
    ...staged,
    ...values,
    ...extraColumns(mapping),
    ...castErrors(mapping),
  ];
}

/** A row's slot is what the record says, else that of its page; so it is for each group. */
function slotColumns({ model, slots, groups }: Mapping): [string, string, null][] {
  const own = slots.map(({ name }) => name);
  const slotOf = (names: readonly string[]) =>
    names.length === 0 ? 'page_slot' : `coalesce(${names.join(', ')}, page_slot)`;
  const written = model.columns.find(({ name, sql }) => name === 'slot' && sql !== null)?.sql;
  const ofGroups = own.filter((name) => name !== 'own_slot');
  // Where a group alone has a slot, the groups of a text that comes again would have two.
  const digest =
    ofGroups.length === 0
      ? 'digest'
      : `case when own_slot is not null or coalesce(${ofGroups.join(', ')}) is null then digest end`;
  const texts: [string, string, null][] =
    model.header.get('texts') === 'yes'
      ? [
          [digest, 'digest', null],
          ['own_slot', 'own_slot', null],
        ]
      : [];
  return [
    ...texts,
    [written ?? slotOf(own), 'slot', null],
    ...groups.flatMap((group): [string, string, null][] => [
      [carried(group, model.header.get(`group ${group}`) ?? ''), `carries_${group}`, null],
      [
        slotOf(own.filter((name) => name === 'own_slot' || name === `own_${group}_slot`)),
        `${group}_slot`,
        null,
      ],
    ]),
  ];
}

/** Whether an answer speaks of a group. `asked`: the question did. `members`, `null`, `value`: what the record has there. */
function carried(group: string, said: string): string {
  const conditions: Record<string, string> = {
    asked: `coalesce(list_contains(carries, '${group}'), false)`,
    members: `coalesce(facts.shown_${group}, false)`,
    null: `coalesce(facts.null_${group}, false)`,
    value: `${memberOf('r', [group])} is not null`,
  };
  return said
    .split(' or ')
    .map((word) => conditions[word] ?? `unknown_word_${word}`)
    .join(' or ');
}
