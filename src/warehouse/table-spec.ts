import { listFolders, listSql, readSql } from './sql-text.ts';

/** What the header of `sql/tables/<name>.sql` says of a table. */
export interface TableSpec {
  name: string;
  /** Shapes its rows are read from: the folders of `sql/shapes/` that have a file of its name. */
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
  specs ??= listSql('tables').map((name) => parseTableSpec(readSql(`tables/${name}.sql`)));
  return specs;
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

/** Reads a table's header: `-- word: value` lines before the first statement. */
export function parseTableSpec(text: string): TableSpec {
  const groups = new Map<string, readonly string[]>();
  const joined = new Map<string, readonly string[]>();
  const hashed = new Map<string, string>();
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (!line.startsWith('--')) break;
    const [, word, value] = /^-- ([a-z0-9_ ]+): (.*)$/.exec(line) ?? [];
    if (word === undefined || value === undefined) continue;
    if (word.startsWith('group ')) groups.set(word.slice('group '.length), splitList(value));
    else if (word.startsWith('join ')) joined.set(word.slice('join '.length), splitList(value));
    else if (word.startsWith('hash ')) hashed.set(word.slice('hash '.length), value);
    else fields.set(word, value);
  }
  const field = (word: string) => {
    const value = fields.get(word);
    if (value === undefined) throw new Error(`sql/tables: a header has no "-- ${word}:" line`);
    return value;
  };
  const publish = field('publish');
  if (publish !== 'merge' && publish !== 'append')
    throw new Error(`sql/tables: unknown publish mode ${publish}`);
  const create = text.slice(0, text.search(/^comment on /m));
  return {
    name: field('table'),
    shapes: listFolders('shapes').filter((shape) => listSql(`shapes/${shape}`).includes(field('table'))),
    key: splitList(field('key')),
    publish,
    history: fields.get('history') === 'yes',
    texts: fields.get('texts') === 'yes',
    spentBy: fields.get('spent by') ?? null,
    recordBytes: Number(fields.get('record bytes') ?? 500),
    followed: fields.get('followed') === 'yes',
    groups,
    joined,
    volatile: [...splitList(fields.get('volatile') ?? ''), 'extra', ...[...joined.values()].flat()],
    final: fields.get('final') ?? null,
    feedSlot: fields.get('feed slot') ?? null,
    unordered: splitList(fields.get('unordered') ?? ''),
    hashed,
    types: readTypes(create),
    steady: splitList(fields.get('steady') ?? ''),
    required: splitList(fields.get('required') ?? ''),
    living: fields.get('living') ?? 'true',
    ddl: text,
    create,
  };
}

/** Column types of a `create table` with a column a line. */
function readTypes(create: string): Map<string, string> {
  const lines = create.matchAll(/^ {2}(\w+) (.+?)(?: not null)?,?$/gm);
  return new Map([...lines].map(([, name, type]) => [name as string, type as string]));
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((part) => part.trim() || []);
}
