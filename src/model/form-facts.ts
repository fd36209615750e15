import { quoteText } from '../sql-text.ts';
import {
  factName,
  jsonPath,
  knownMembers,
  listLists,
  listObjects,
  listsStructure,
  memberOf,
  type RecordNode,
} from './record-tree.ts';
import type { TableModel } from './table-model.ts';

/** Name of the macro that derives facts from a record's keys and kinds of values. */
export function factsMacro({ name }: TableModel): string {
  return `facts_of_${name}`;
}

/**
 * Makes that macro. Its facts: `other_kinds`: a value is not of its column's kind; `more_<member>`: the member has members
 * without a column; `shown_<group>`: it has any members; `null_<group>`: it is null; `map_<member>`: it is an object, not a
 * list. Few functions read the whole record, because each holds all its text.
 */
export function createFactsMacro(model: TableModel, tree: RecordNode): string {
  const objects = listObjects(tree);
  const lists = listLists(tree);
  const paths = (nodes: readonly RecordNode[]) =>
    `[${nodes.map(({ path }) => `'${jsonPath('$', path)}'`).join(', ')}]`;
  const structure = listsStructure(tree);
  const read = [
    `'keys': json_keys(record, ${paths(objects)})`,
    ...(objects.length > 1 ? [`'kinds': json_type(record, ${paths(objects.slice(1))})`] : []),
    ...(structure === null ? [] : [`'lists': from_json(record, '${structure}')`]),
  ];
  const facts = [
    `'other_kinds': ${otherKinds(objects, lists)}`,
    ...objects.flatMap((node, index) => objectFacts(node, index, model.header)),
    ...lists.flatMap(listFacts),
  ];
  return `create or replace temp macro ${factsMacro(model)}(record) as
  list_transform(
    [
      {
        ${read.join(',\n        ')}
      }
    ],
    lambda told: {
      ${facts.join(',\n      ')}
    }
  )[1];
`;
}

function objectFacts(node: RecordNode, index: number, header: ReadonlyMap<string, string>): string[] {
  const keys = `told.keys[${index + 1}]`;
  const more = `'${factName('more', node.path)}': not list_has_all([${knownMembers(node).map(quoteText).join(', ')}], ${keys})`;
  const [member] = node.path;
  if (node.path.length !== 1 || member === undefined || !header.has(`group ${member}`)) return [more];
  const there = `list_contains(told.keys[1], ${quoteText(member)})`;
  return [
    more,
    `'${factName('shown', node.path)}': ${there} and len(${keys}) > 0`,
    `'${factName('null', node.path)}': ${there} and told.kinds[${index}] = 'NULL'`,
  ];
}

function listFacts({ path, column }: RecordNode): string[] {
  const list = memberOf('told.lists', path);
  const known = (column?.members ?? []).map(({ name }) => quoteText(name)).join(', ');
  const more = `has_unknown_element(${list}, [${known}])`;
  if (column?.marks.has('map') !== true) return [`'${factName('more', path)}': ${more}`];
  return [
    `'${factName('more', path)}': json_type(${list}) = 'ARRAY' and ${more}`,
    `'${factName('map', path)}': coalesce(json_type(${list}) = 'OBJECT', false)`,
  ];
}

function otherKinds(objects: readonly RecordNode[], lists: readonly RecordNode[]): string {
  const conditions = lists.flatMap((node) => {
    const list = memberOf('told.lists', node.path);
    const kinds = node.column?.marks.has('map') === true ? "('ARRAY', 'OBJECT')" : "('ARRAY')";
    return [
      `coalesce(json_type(${list}) not in ${kinds}, false)`,
      ...elementKinds(node).map(([path, kind]) => `has_cast_error_element(${list}, '${path}', '${kind}')`),
    ];
  });
  if (objects.length > 1)
    conditions.unshift(
      `not list_has_all(['OBJECT', 'NULL'], list_filter(told.kinds, lambda kind: kind is not null))`,
    );
  return conditions.length === 0 ? 'false' : conditions.join('\n        or ');
}

/** The kinds that the elements of a list of objects, and their list members, must have. */
export function elementKinds({ column }: RecordNode): [path: string, kind: string][] {
  const inner = (column?.members ?? []).filter(({ type }) => type.endsWith('[]'));
  return [['$[*]', 'OBJECT'], ...inner.map(({ name }): [string, string] => [`$[*].${name}`, 'ARRAY'])];
}
