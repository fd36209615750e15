import { UsageError } from '../errors.ts';
import { listSql, readSql } from '../sql-text.ts';

/** The file in `sql/` and the line that a line of a mapping is generated from, where a person would correct it. */
export interface Origin {
  file: string;
  line: number;
}

/** A column as its line in `sql/tables/<table>.sql` describes it. */
export interface Column extends Origin {
  name: string;
  /** The type in `create table`; '' in a line about a column of sql/bookkeeping.sql. */
  type: string;
  /** Members of the structs of a list of structs. */
  members: readonly Member[];
  marks: ReadonlySet<Mark>;
  /** Paths in the record, of which the first with a value counts; empty if the value is SQL. */
  from: readonly string[];
  /** `via`: the macro that reads the JSON value at the path. */
  via: string | null;
  /** `if`: the column is NULL unless this is true. */
  condition: string | null;
  /** `=`: the value as SQL. */
  sql: string | null;
  /** `raw`: SQL of the text that `sql` reads; a text whose value is NULL is a cast error. */
  raw: string | null;
  group: string | null;
  sentence: string;
}

export interface Member {
  name: string;
  type: string;
  nonempty: boolean;
}

/** The words that may be between a column's type and its source; CONTRIBUTING.md explains them. */
const knownMarks = [
  'key',
  'text',
  'nonempty',
  'map',
  'any',
  'slot',
  'steady',
  'required',
  'volatile',
  'unordered',
  'final',
] as const;
export type Mark = (typeof knownMarks)[number];

/** A file of `sql/tables/`. */
export interface TableModel {
  name: string;
  /** `-- word: value` lines, by word. */
  header: ReadonlyMap<string, string>;
  columns: readonly Column[];
}

let models: readonly TableModel[] | null = null;

/** Every file of `sql/tables/`; read once per process. */
export function readTableModels(): readonly TableModel[] {
  models ??= listSql('tables').map((name) =>
    parseTableModel(`tables/${name}.sql`, readSql(`tables/${name}.sql`)),
  );
  return models;
}

/** @throws UsageError naming file and line of a column that cannot be read; Error if the header names no table */
export function parseTableModel(file: string, text: string): TableModel {
  const header = new Map<string, string>();
  const columns: Column[] = [];
  const groups = () => [...header.keys()].flatMap((word) => /^group (\w+)$/.exec(word)?.[1] ?? []);
  for (const [index, line] of text.split('\n').entries()) {
    const [, word, value] = /^-- ([a-z0-9_ ]+): (.*)$/.exec(line) ?? [];
    if (columns.length === 0 && word !== undefined && value !== undefined) header.set(word, value);
    else if (line.trim() !== '' && !line.startsWith('--'))
      columns.push(parseColumn(line, { file, line: index + 1 }, groups()));
  }
  const name = header.get('table');
  if (name === undefined) throw new Error(`sql/${file}: the header has no "-- table:" line`);
  return { name, header, columns };
}

/** A line: `name type marks <- paths [via macro] [if sql] -- [group: ]sentence`, or `name type marks = sql [raw sql] -- …`. */
export function parseColumn(line: string, origin: Origin, groups: readonly string[]): Column {
  const [before, comment = ''] = splitOnce(line, ' -- ');
  const [head, from] = splitOnce(before, ' <- ');
  const [name = '', declared = ''] = splitOnce(
    (from === undefined ? splitOnce(head, ' = ')[0] : head).trim(),
    ' ',
  );
  const value = from === undefined ? splitOnce(head, ' = ')[1] : undefined;
  const [, type = '', marks = ''] = /^(struct\(.*\)\[\]|\w+(?:\[\])?)?(.*)$/.exec(declared.trim()) ?? [];
  const words = marks.split(' ').filter((word) => word !== '');
  const strange = words.find((word) => !knownMarks.includes(word as Mark));
  if (!/^\w+$/.test(name) || strange !== undefined)
    throw new UsageError(
      `sql/${origin.file}:${origin.line}: ${strange === undefined ? 'no column' : `unknown mark "${strange}"`}`,
      `A column is written as: name type marks <- member -- sentence. The marks are ${knownMarks.join(', ')}.`,
    );
  const members = parseMembers(type);
  const [, group, sentence] = /^(\w+): (.*)$/.exec(comment.trim()) ?? [];
  const owned = group !== undefined && groups.includes(group);
  const [paths = '', condition] = splitOnce(from ?? '', ' if ');
  const [listed = '', via] = splitOnce(paths, ' via ');
  const [sql, raw] = splitOnce(value ?? '', ' raw ');
  return {
    ...origin,
    name,
    type:
      members.length === 0 ? type : `struct(${members.map((one) => `${one.name} ${one.type}`).join(', ')})[]`,
    members,
    marks: new Set(words as Mark[]),
    from: listed.split(' or ').flatMap((path) => path.trim() || []),
    via: via?.trim() ?? null,
    condition: condition?.trim() ?? null,
    sql: value === undefined ? null : (sql as string).trim(),
    raw: raw?.trim() ?? null,
    group: owned ? group : null,
    sentence: (owned ? sentence : comment)?.trim() ?? '',
  };
}

function parseMembers(type: string): Member[] {
  const [, inside] = /^struct\((.*)\)\[\]$/.exec(type) ?? [];
  if (inside === undefined) return [];
  return inside.split(', ').map((one) => {
    const [name = '', memberType = '', mark] = one.split(' ');
    return { name, type: memberType, nonempty: mark === 'nonempty' };
  });
}

/** A text before and after the first `mark`. */
function splitOnce(text: string, mark: string): [string, string?] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** The items of a comma-separated header line. */
export function splitList(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((part) => part.trim() || []);
}
