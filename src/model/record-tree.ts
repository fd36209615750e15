import { type Column, splitList, type TableModel } from './table-model.ts';

/** A member of a record that a table uses; the root is the record. */
export interface RecordNode {
  path: readonly string[];
  /** `list`: a list of objects, with the members of its column's type. `value`: anything else, read as text or JSON. */
  kind: 'object' | 'list' | 'value';
  children: Map<string, RecordNode>;
  /** The first column that is read from it. */
  column: Column | null;
  /** Read as JSON instead of text. */
  json: boolean;
  /**
   * `here`: its unknown members go to `extra`. `kept`: it is in `extra` as a whole, although a part of it is read.
   * `elsewhere`: another table has its members.
   */
  checked: 'here' | 'kept' | 'elsewhere';
}

/** The members of a record that the columns of a table name, in the order of `-- members:`, then of the columns. */
export function readRecordTree({ header, columns }: TableModel): RecordNode {
  const root = newNode([], 'object');
  for (const path of splitList(header.get('members'))) addNode(root, path.split('.'), null);
  for (const column of columns) for (const path of column.from) addNode(root, path.split('.'), column);
  const written = [
    header.get('usable'),
    ...stagedOnly(header).values(),
    ...columns.flatMap((one) => [one.sql, one.raw]),
  ];
  for (const sql of written)
    for (const [, path] of (sql ?? '').matchAll(/\br\.(\w+(?:\.\w+)*)/g))
      addNode(root, (path as string).split('.'), null);
  for (const path of splitList(header.get('elsewhere')))
    addNode(root, path.split('.'), null).checked = 'elsewhere';
  for (const path of splitList(header.get('kept'))) addNode(root, path.split('.'), null).checked = 'kept';
  return root;
}

/** Columns that staged rows have and the table has not: `-- staged <name>: <sql>`. */
export function stagedOnly(header: ReadonlyMap<string, string>): Map<string, string> {
  const staged = [...header].filter(([word]) => word.startsWith('staged '));
  return new Map(staged.map(([word, sql]) => [word.slice('staged '.length), sql]));
}

function newNode(path: readonly string[], kind: RecordNode['kind']): RecordNode {
  return { path, kind, children: new Map(), column: null, json: false, checked: 'here' };
}

function addNode(root: RecordNode, path: readonly string[], column: Column | null): RecordNode {
  let node = root;
  for (const [depth, name] of path.entries()) {
    if (node.kind === 'value') node.kind = 'object';
    const child = node.children.get(name) ?? newNode(path.slice(0, depth + 1), 'value');
    node.children.set(name, child);
    node = child;
  }
  if (column === null || node.column !== null) return node;
  node.column = column;
  if (column.members.length > 0) node.kind = 'list';
  node.json = column.type === 'json' || column.via !== null || /^\w+\[\]$/.test(column.type);
  return node;
}

/** The structure for from_json to read the record. */
export function structureOf(node: RecordNode): string {
  if (node.kind === 'value') return node.json ? '"JSON"' : '"VARCHAR"';
  if (node.kind === 'list') {
    const members = node.column?.members ?? [];
    const types = members.map(
      ({ name, type }) => `"${name}": ${type.endsWith('[]') ? '["VARCHAR"]' : '"VARCHAR"'}`,
    );
    return `[{${types.join(', ')}}]`;
  }
  return `{${[...node.children].map(([name, child]) => `"${name}": ${structureOf(child)}`).join(', ')}}`;
}

/** The structure for from_json to read only the lists of objects, as JSON; null if there are none. */
export function listsStructure(node: RecordNode): string | null {
  if (node.kind === 'list') return '"JSON"';
  const members = [...node.children].flatMap(([name, child]) => {
    const inside = listsStructure(child);
    return inside === null ? [] : `"${name}": ${inside}`;
  });
  return members.length === 0 ? null : `{${members.join(', ')}}`;
}

/** The record and its objects that are checked `here`, outer ones first. */
export function listObjects(node: RecordNode): RecordNode[] {
  if (node.kind !== 'object' || node.checked !== 'here') return [];
  return [node, ...[...node.children.values()].flatMap(listObjects)];
}

/** The lists of objects in a record. */
export function listLists(node: RecordNode): RecordNode[] {
  return node.kind === 'list' ? [node] : [...node.children.values()].flatMap(listLists);
}

/** The members of an object that do not go to `extra`. */
export function knownMembers(node: RecordNode): string[] {
  return [...node.children].flatMap(([name, { checked }]) => (checked === 'kept' ? [] : name));
}

/** A path below `root` for DuckDB's JSON functions. */
export function jsonPath(root: string, path: readonly string[]): string {
  return [root, ...path.map((name) => (/^\w+$/.test(name) ? name : `"${name}"`))].join('.');
}

/** A member of a struct: `r.content."$schema"`. */
export function memberOf(struct: string, path: readonly string[]): string {
  return [struct, ...path.map((name) => (/^\w+$/.test(name) ? name : `"${name}"`))].join('.');
}

/** The name of a member's fact, such as `more_content_metadata`. */
export function factName(prefix: string, path: readonly string[]): string {
  return [prefix, ...path].join('_').replaceAll(/\W/g, '');
}
