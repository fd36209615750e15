import {
  commentStatements,
  createStatement,
  groupNames,
  groupsWithMembers,
  listTableColumns,
} from '../model/table-ddl.ts';
import { type Mark, readTableModels, splitList, type TableModel } from '../model/table-model.ts';

/** A table of the model: what `sql/tables/<name>.sql` says, and what follows from it. */
export interface TableSpec {
  name: string;
  /** The shapes of the records that its rows are read from. */
  shapes: readonly string[];
  key: readonly string[];
  /** `merge`: newer rows replace older ones. `append`: a row only gets values for what is NULL. */
  publish: 'merge' | 'append';
  /** Whether former versions and closed rows are kept (sql/history.sql). */
  history: boolean;
  /** Whether the digests of the texts that rows were read from are kept (sql/texts.sql). */
  texts: boolean;
  /** The shape whose records say which of its rows are spent; null if none can be. */
  spentBy: string | null;
  /** Bytes of a record in the landing log, measured, for estimates. */
  recordBytes: number;
  /** Whether it has the column `followed`: whether a present target should show the row. */
  followed: boolean;
  /** Columns by group, each with a slot of its own. All other columns are the base group. */
  groups: ReadonlyMap<string, readonly string[]>;
  /** JSON columns, by the text columns that each hold some of their members, `"name":value,…`. */
  joined: ReadonlyMap<string, readonly string[]>;
  /**
   * Columns that change in place, without a version. `extra` is one in every table, because members without a column come, go and move
   * with each version of a provider's software.
   */
  volatile: readonly string[];
  /** The column that, once true, stays true; null if there is none. */
  final: string | null;
  /** For tables of feeds, SQL over `added` of the slot or Unix time that a feed's coverage is in; null for others. */
  feedSlot: string | null;
  /** List columns whose order means nothing. */
  unordered: readonly string[];
  /** SQL over a column by which the column is hashed, if not by its value. */
  hashed: ReadonlyMap<string, string>;
  /** Types of the columns, as `create table` has them. */
  types: ReadonlyMap<string, string>;
  /** Columns that rows do not lose on a ledger. The guard `blank` allows more rows to lose other columns. */
  steady: readonly string[];
  /** Names that a cast error of the key or a steady column has: the column's, or that of an object on its path in the record. */
  steadyMembers: readonly string[];
  /** Columns for which every record has a value. */
  required: readonly string[];
  /** Condition that a row lives. A burnt one may lose its columns. */
  living: string;
  /** The statements that create it, with its comments. */
  ddl: string;
  /** The first of them, which creates the table without comments. */
  create: string;
}

let specs: readonly TableSpec[] | null = null;

/** Reads every table of the model from `sql/tables/`, once a process. */
export function readTableSpecs(): readonly TableSpec[] {
  specs ??= readTableModels().map(toTableSpec);
  return specs;
}

/** Lists the shapes of all tables, sorted. */
export function listShapes(): string[] {
  return [...new Set(readTableSpecs().flatMap(({ shapes }) => shapes))].sort();
}

/** The spec of a table of the model. */
export function readTableSpec(table: string): TableSpec {
  const spec = readTableSpecs().find(({ name }) => name === table);
  if (spec === undefined) throw new Error(`sql/tables has no ${table}.sql`);
  return spec;
}

/** The clause by which `select *` leaves out `followed`, which `past` does not have. */
export function withoutFollowed({ followed }: Pick<TableSpec, 'followed'>): string {
  return followed ? 'exclude (followed)' : '';
}

/** Derives a table's spec from its model. @throws Error naming what its header lacks */
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
    steadyMembers: listSteadyMembers(model),
    required: marked('required'),
    living: header.get('living') ?? 'true',
    ddl: `${create}${commentStatements(model, columns)}`,
    create,
  };
}

function listGroupColumns(model: TableModel, group: string): string[] {
  const columns = model.columns.flatMap((column) => (column.group === group ? column.name : []));
  return groupsWithMembers(model).includes(group) ? [...columns, `${group}_extra`] : columns;
}

/** If groups have members, `extra` is put together from a text column of each. */
function listJoined(model: TableModel): Map<string, readonly string[]> {
  const groups = groupsWithMembers(model);
  return new Map(
    groups.length === 0 ? [] : [['extra', ['base', ...groups].map((group) => `${group}_extra`)]],
  );
}

function listSteadyMembers({ columns }: TableModel): string[] {
  const names = columns
    .filter(({ marks }) => marks.has('steady') || marks.has('key'))
    .flatMap(({ name, from }) => [name, ...from.flatMap((path) => path.split('.').slice(0, -1))]);
  return [...new Set(names)];
}
