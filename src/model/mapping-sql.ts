import { readSql } from '../sql-text.ts';
import { mayFail } from './cast-errors.ts';
import { everyElementFits, listOf, listValue, type RecordText } from './column-sql.ts';
import { describeMapping, type HandWrittenSql, landingStructure, type Mapping } from './describe-mapping.ts';
import { createFactsMacro, factsMacro } from './form-facts.ts';
import {
  jsonPath,
  listObjects,
  listsStructure,
  memberOf,
  readRecordTree,
  structureOf,
} from './record-tree.ts';
import { line, type MappingLine, outputs, rowsStep } from './row-sql.ts';
import { type Column, type Origin, readTableModels, splitList, type TableModel } from './table-model.ts';

/** The generated SQL that makes rows of one table from the records of one shape. */
export interface MappingSql {
  model: TableModel;
  /** The statement that makes the macro of the query; '' if it needs none. */
  macro: string;
  /** The query from a segment's files to the staged rows of the table, without their hashes. */
  query: string;
  /** The origin of each line of the query. */
  origins: readonly (Origin | null)[];
}

/** The mappings of a shape, one per table. */
export function mappingSql(shape: string): MappingSql[] {
  return readTableModels()
    .filter(({ header }) => splitList(header.get('shapes')).includes(shape))
    .map((model) => tableMappingSql(model, shape));
}

/** The mapping of one table for the records of a shape. */
export function tableMappingSql(model: TableModel, shape: string): MappingSql {
  const lines = [...landingLines(model), ...mappingLines(model, shape)].flatMap(({ sql, origin }) =>
    sql.split('\n').map((text) => ({ sql: text, origin })),
  );
  const query = lines.map(({ sql }) => sql).join('\n');
  return { model, macro: factsMacroOf(model), query, origins: lines.map(({ origin }) => origin) };
}

/** The statement that makes a table's facts macro; '' if nothing is read from the record. */
export function factsMacroOf(model: TableModel): string {
  const tree = readRecordTree(model);
  return tree.children.size === 0 ? '' : createFactsMacro(model, tree);
}

function landingLines(model: TableModel): MappingLine[] {
  const text = readSql('landing.sql').trimEnd().replace('{record}', landingStructure(model));
  return text.split('\n').map((sql, index) => ({ sql, origin: { file: 'landing.sql', line: index + 1 } }));
}

/** The lines of a mapping after sql/landing.sql: from `record` to the staged rows of the table. */
function mappingLines(model: TableModel, shape: string): MappingLine[] {
  const mapping = describeMapping(model, shape);
  const { handWritten } = mapping;
  const steps = [
    ...handWrittenStep(handWritten, 'record'),
    ...parsedStep(mapping, handWritten?.after === 'record' ? handWritten.last : 'record'),
    ...typedStep(mapping),
    ...handWrittenStep(handWritten, 'typed'),
    ...checkedStep(mapping, handWritten?.after === 'typed' ? handWritten.last : 'typed'),
  ];
  if (handWritten?.after !== 'mapped') return [...endSteps(steps), ...rowsStep(mapping, 'checked')];
  const mapped = [line('mapped as ('), ...rowsStep(mapping, 'checked', ['record', 'usable']), line('),')];
  const names = outputs(mapping).map(([, name]) => line(`  ${name},`));
  const all = endSteps([...steps, ...mapped, ...handWrittenStep(handWritten, 'mapped')]);
  return [...all, line('select'), ...names, line(`from ${handWritten.last}`)];
}

/** Removes the comma after the last common table expression. */
function endSteps(steps: readonly MappingLine[]): MappingLine[] {
  const last = steps.at(-1) as MappingLine;
  return [...steps.slice(0, -1), { ...last, sql: last.sql.replace(/,$/, '') }];
}

function handWrittenStep(handWritten: HandWrittenSql | null, after: HandWrittenSql['after']): MappingLine[] {
  if (handWritten?.after !== after) return [];
  return handWritten.lines.map(({ sql, line: number }) =>
    line(sql, { file: handWritten.file, line: number }),
  );
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

/** Computes each cast that may fail once. */
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
    const canFail = column.from.length > 0 && everyElementFits(column, listOf(column)) !== null;
    return !canFail ? [] : line(`    ${listValue(column)} as ${column.name},`, column);
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

/** Marks the few records that may have a cast error, which are checked in detail. */
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

/** A list that may come as a map. A map has no order, so its entries are sorted by key. */
function mapValue({ from, members }: Column, text: RecordText): string {
  const path = (from[0] ?? '').split('.');
  const [key, value] = members.map(({ name }) => name);
  const entries = `map_entries(from_json(${text.column} -> '${jsonPath(text.root, path)}', '"MAP(VARCHAR, VARCHAR)"'))`;
  const pairs = `list_sort(list_transform(${entries}, lambda pair: {'${key}': pair.key, '${value}': pair.value}))`;
  return `case when facts.map_${path.join('_')} then ${pairs} else ${memberOf('r', path)} end`;
}
