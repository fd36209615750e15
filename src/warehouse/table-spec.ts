import {
  commentStatements,
  createStatement,
  groupNames,
  groupsWithMembers,
  listTableColumns,
} from '../model/table-ddl.ts';
import { type Mark, readTableModels, splitList, type TableModel } from '../model/table-model.ts';

/** A table of the model as the stages need it: what `sql/tables/<name>.sql` says, and what follows from it. */
export interface TableSpec {
  name: string;
  /** Shapes of records that its rows are read from. */
  shapes: readonly string[];
  key: readonly string[];
  /** `merge`: rows are replaced by newer ones. `append`: rows are only filled where they are NULL. */
  publish: 'merge' | 'append';
  /** Whether former versions and rows that are gone are kept (sql/history.sql). */
  history: boolean;
  /** Whether the texts that rows were read from are known by their digests (sql/texts.sql). */
  texts: boolean;
  /** The shape whose records say which of its rows are spent; null: no row is. */
  spentBy: string | null;
  /** What a record of it takes in the landing log, bytes: measured, for estimates. */
  recordBytes: number;
  /** Whether its rows say if a present target should show them: column `followed`. */
  followed: boolean;
  /** Columns by group, besides the base group of all others; each group has a slot of its own. */
  groups: ReadonlyMap<string, readonly string[]>;
  /** JSON objects put together from text columns that each hold some of their members, `"name":value,…`. */
  joined: ReadonlyMap<string, readonly string[]>;
  /**
   * Columns that change in place without counting as a change. What has no column is among them, in every table: members
   * come, go and move with each version of a provider's software.
   */
  volatile: readonly string[];
  /** The flag of a row that, once true, stays true; null: none does. */
  final: string | null;
  /** Tables of feeds: what a feed covers their rows by, an expression of slots or Unix times over `added`; null for others. */
  feedSlot: string | null;
  /** Lists whose order means nothing. */
  unordered: readonly string[];
  /** What stands for a column in the row's hash, where that is not its value: SQL over the column. */
  hashed: ReadonlyMap<string, string>;
  /** Types of the columns, as `create table` has them. */
  types: ReadonlyMap<string, string>;
  /** Columns that a row which has them keeps, as far as a ledger goes: the guard `blank` says so of others only of many. */
  steady: readonly string[];
  /** Columns that every record has. */
  required: readonly string[];
  /** Condition on a staged row that lives on: what is burnt may lose its columns. */
  living: string;
  /** The statements that make it, with what its columns mean. */
  ddl: string;
  /** The first of them: the table alone, for where nobody asks what its columns mean. */
  create: string;
}

let specs: readonly TableSpec[] | null = null;

/** Every table of the model, from `sql/tables/`; read once a process. */
export function readTableSpecs(): readonly TableSpec[] {
  specs ??= readTableModels().map(toTableSpec);
  return specs;
}

/** Every shape that a table has rows of, sorted. */
export function listShapes(): string[] {
  return [...new Set(readTableSpecs().flatMap(({ shapes }) => shapes))].sort();
}

/** The spec of a table of the model. */
export function readTableSpec(table: string): TableSpec {
  const spec = readTableSpecs().find(({ name }) => name === table);
  if (spec === undefined) throw new Error(`sql/tables has no ${table}.sql`);
  return spec;
}

/** What a selection of all columns leaves out where rows go to the past. */
export function withoutFollowed({ followed }: Pick<TableSpec, 'followed'>): string {
  return followed ? 'exclude (followed)' : '';
}

/** What follows from a table's description. @throws Error naming what its header lacks */
export function toTableSpec(model: TableModel): TableSpec {
  const { name, header } = model;
  const field = (word: string) => {
    const value = header.get(word);
    if (value === undefined) throw new Error(`sql/tables/${name}.sql: the header has no "-- ${word}:" line`);
    return value;
  };
  const publish = field('publish');
  if (publish !== 'merge' && publish !== 'append')
    throw new Error(`sql/tables/${name}.sql: unknown publish mode ${publish}`);
  const columns = listTableColumns(model);
  const create = createStatement(model, columns);
  const marked = (mark: Mark) =>
    model.columns.flatMap((column) => (column.marks.has(mark) ? column.name : []));
  const joined = listJoined(model);
  const hashed = [...header].filter(([word]) => word.startsWith('hash '));
  return {
    name,
    shapes: splitList(field('shapes')),
    key: splitList(field('key')),
    publish,
    history: header.get('history') === 'yes',
    texts: header.get('texts') === 'yes',
    spentBy: header.get('spent by') ?? null,
    recordBytes: Number(header.get('record bytes') ?? 500),
    followed: header.get('followed') === 'yes',
    groups: new Map(groupNames(header).map((group) => [group, listGroupColumns(model, group)])),
    joined,
    volatile: [...marked('volatile'), 'extra', ...[...joined.values()].flat()],
    final: marked('final')[0] ?? null,
    feedSlot: header.get('feed slot') ?? null,
    unordered: marked('unordered'),
    hashed: new Map(hashed.map(([word, sql]) => [word.slice('hash '.length), sql])),
    types: new Map(columns.map((column) => [column.name, column.type])),
    steady: marked('steady'),
    required: marked('required'),
    living: header.get('living') ?? 'true',
    ddl: `${create}${commentStatements(model, columns)}`,
    create,
  };
}

function listGroupColumns(model: TableModel, group: string): string[] {
  const own = model.columns.flatMap((column) => (column.group === group ? column.name : []));
  return groupsWithMembers(model).includes(group) ? [...own, `${group}_extra`] : own;
}

/** Where groups have members, `extra` is put together from the texts of all of them. */
function listJoined(model: TableModel): Map<string, readonly string[]> {
  const groups = groupsWithMembers(model);
  return new Map(
    groups.length === 0 ? [] : [['extra', ['base', ...groups].map((group) => `${group}_extra`)]],
  );
}
