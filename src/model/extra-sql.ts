import { quoteText } from '../sql-text.ts';
import { type Mapping, textAt } from './describe-mapping.ts';
import { factName, knownMembers, type RecordNode } from './record-tree.ts';
import { groupsWithMembers } from './table-ddl.ts';
import type { Origin } from './table-model.ts';

/** `extra`, what has no column; with groups, a text of its members for each group that has an object of the record. */
export function extraColumns(mapping: Mapping): [sql: string, name: string, origin: Origin | null][] {
  const { model, tree } = mapping;
  const extra = model.columns.find(({ name }) => name === 'extra');
  if (extra === undefined) return [];
  if (extra.sql !== null) return [[extra.sql, 'extra', extra]];
  const groups = groupsWithMembers(model);
  const unknown = (node: RecordNode) => unknownMembers(mapping, node, []);
  if (groups.length > 0)
    return [
      [`nullif(${joined(unknownMembers(mapping, tree, groups))}, '')`, 'base_extra', extra],
      ...groups.map((group): [string, string, Origin] => {
        const node = tree.children.get(group) as RecordNode;
        return [`object_member('${group}', ${joined(unknown(node))})`, `${group}_extra`, extra];
      }),
    ];
  const members = unknown(tree);
  if (members.length > 1) return [[`extra_object(${joined(members)})`, 'extra', extra]];
  const known = quoteText(nulls(tree));
  return [
    [`case when facts.more then json_merge_patch(${textAt(mapping, [])}, ${known}) end`, 'extra', extra],
  ];
}

/** What an object has that no column takes, member by member. @param left members whose rest has a column of its own */
function unknownMembers(mapping: Mapping, node: RecordNode, left: readonly string[]): string[] {
  const own = `case when facts.${factName('more', node.path)} then unknown_members(${textAt(mapping, node.path)}, ${quoteText(nulls(node))}) end`;
  const inside = [...node.children].flatMap(([name, child]) => {
    if (child.checked !== 'here' || left.includes(name)) return [];
    if (child.kind === 'object')
      return [`object_member('${name}', ${joined(unknownMembers(mapping, child, []))})`];
    if (child.kind !== 'list') return [];
    return [
      `case when facts.${factName('more', child.path)} then value_member('${name}', ${textAt(mapping, child.path)}) end`,
    ];
  });
  return [own, ...inside];
}

function joined(members: readonly string[]): string {
  return members.length === 1 ? (members[0] as string) : `concat_ws(',', ${members.join(', ')})`;
}

/** The known members of an object, each null: what json_merge_patch takes away. */
function nulls(node: RecordNode): string {
  return `{${knownMembers(node)
    .map((name) => `"${name}": null`)
    .join(', ')}}`;
}
