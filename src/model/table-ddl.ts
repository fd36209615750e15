import { quoteText, readSql } from '../sql-text.ts';
import { type Column, parseColumn, splitList, type TableModel } from './table-model.ts';

/** A column of a table as people see it. */
export interface TableColumn {
  name: string;
  type: string;
  notNull: boolean;
  sentence: string;
}

/** Columns of sql/bookkeeping.sql that are never NULL. */
const alwaysThere = ['seen_at', 'run_id', 'record_hash'];

/** The groups of a table that own an object of the record; each has an `<group>_extra` for members without a column. */
export function groupsWithMembers({ header }: TableModel): string[] {
  return groupNames(header).filter((name) => header.get(`group ${name}`)?.includes('members'));
}

/** Names of the groups in the order of the header. */
export function groupNames(header: ReadonlyMap<string, string>): string[] {
  return [...header.keys()].flatMap((word) => /^group (\w+)$/.exec(word)?.[1] ?? []);
}

/** All columns of a table in order: its own, then those of sql/bookkeeping.sql. */
export function listTableColumns(model: TableModel): TableColumn[] {
  const standard = standardColumns(model);
  const key = splitList(model.header.get('key'));
  const own = model.columns.map((column) => describe(column, standard.get(column.name), key));
  const typed = new Set(model.columns.flatMap(({ name, type }) => (type === '' ? [] : name)));
  const described = new Map(own.map((column) => [column.name, column]));
  const rest = [...standard.values()].flatMap((column) =>
    column.type === '' || typed.has(column.name)
      ? []
      : (described.get(column.name) ?? describe(column, undefined, key)),
  );
  return [...own.filter(({ name }) => typed.has(name)), ...rest];
}

function describe(column: Column, standard: Column | undefined, key: readonly string[]): TableColumn {
  const { name } = column;
  return {
    name,
    type: column.type === '' ? (standard?.type ?? '') : column.type,
    notNull: key.includes(name) || alwaysThere.includes(name),
    sentence: column.sentence === '' ? (standard?.sentence ?? '') : column.sentence,
  };
}

/** The columns of sql/bookkeeping.sql that a table has, by name. */
function standardColumns(model: TableModel): Map<string, Column> {
  const kinds = kindsOf(model);
  const columns = new Map<string, Column>();
  let groups: readonly string[] = [];
  for (const [index, text] of readSql('bookkeeping.sql').split('\n').entries()) {
    const kind = /^-- for: (.*)$/.exec(text)?.[1];
    if (kind !== undefined) groups = kinds.get(kind) ?? [];
    if (text === '' || text.startsWith('--')) continue;
    for (const group of text.includes('{group}') ? groups : groups.slice(0, 1)) {
      const line = text.replaceAll('{group}', group);
      const column = parseColumn(line, { file: 'bookkeeping.sql', line: index + 1 }, []);
      columns.set(column.name, column);
    }
  }
  // A group's three columns are adjacent.
  const names = groupNames(model.header);
  const groupOf = (name: string) =>
    names.findIndex((group) => /_(slot|seen_at|hash)$/.test(name) && name.startsWith(`${group}_`));
  const own = [...columns.values()].filter(({ name }) => groupOf(name) >= 0);
  own.sort((a, b) => groupOf(a.name) - groupOf(b.name));
  return new Map(
    [...columns]
      .map(([name, column]) => [name, column] as const)
      .map((entry) => {
        const at = groupOf(entry[0]) >= 0 ? (own.shift() as Column) : entry[1];
        return [at.name, at];
      }),
  );
}

/** The kinds that `-- for:` may name, with the groups for which each line is repeated; `['']` for once. */
function kindsOf(model: TableModel): Map<string, readonly string[]> {
  const { header } = model;
  const publish = header.get('publish') ?? '';
  const groups = groupNames(header);
  const withMembers = groupsWithMembers(model);
  const kinds = new Map<string, readonly string[]>([[publish, ['']]]);
  if (header.get('slots') === 'none') kinds.set(`${publish} without slots`, ['']);
  if (groups.length > 0) kinds.set('groups', groups);
  if (withMembers.length > 0) kinds.set('groups with members', ['base', ...withMembers]);
  if (header.get('history') === 'yes') kinds.set('history', ['']);
  if (header.get('followed') === 'yes') kinds.set('followed', ['']);
  return kinds;
}

/** `create table if not exists`, with one column per line. */
export function createStatement({ name }: TableModel, columns: readonly TableColumn[]): string {
  const lines = columns.map(
    (column) => `  ${column.name} ${column.type}${column.notNull ? ' not null' : ''}`,
  );
  return `create table if not exists ${name} (\n${lines.join(',\n')}\n);\n`;
}

/** The comments on the table and its columns. */
export function commentStatements({ name, header }: TableModel, columns: readonly TableColumn[]): string {
  return [
    `comment on table ${name} is ${quoteText(header.get('holds') ?? '')};`,
    ...columns.map(
      ({ name: column, sentence }) => `comment on column ${name}.${column} is ${quoteText(sentence)};`,
    ),
    '',
  ].join('\n');
}
