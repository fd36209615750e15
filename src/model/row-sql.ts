import { quoteText } from '../sql-text.ts';
import { castErrors } from './cast-errors.ts';
import { columnValue, everyElementFits, listValue } from './column-sql.ts';
import { type Mapping, textAt } from './describe-mapping.ts';
import { factName, knownMembers, memberOf, type RecordNode, stagedOnly } from './record-tree.ts';
import { groupsWithMembers } from './table-ddl.ts';
import type { Origin } from './table-model.ts';

/** A line of a mapping, and its origin; null if it is generated. */
export interface MappingLine {
  sql: string;
  origin: Origin | null;
}

export function line(sql: string, origin: Origin | null = null): MappingLine {
  return { sql, origin };
}

/** The step that selects the staged rows: their origin, slots, groups, columns and cast errors. */
export function rowsStep(mapping: Mapping, from: string, more: readonly string[] = []): MappingLine[] {
  const { handWritten } = mapping;
  const items = outputs(mapping).map(([sql, name, origin]) =>
    line(`  ${sql === name ? name : `${sql} as ${name}`},`, origin),
  );
  const where = handWritten?.usableOnly === true ? [line('where usable')] : [];
  return [
    line('select'),
    ...items,
    ...more.map((name) => line(`  ${name},`)),
    line(`from ${from}`),
    ...where,
  ];
}

/** The columns of a staged row, with the SQL of each. */
export function outputs(mapping: Mapping): [sql: string, name: string, origin: Origin | null][] {
  const { model, columns, casts } = mapping;
  const values = columns.map((column): [string, string, Origin] => {
    const columnCasts = casts.filter((cast) => cast.column === column);
    const isMade =
      column.marks.has('map') || (column.members.length > 0 && everyElementFits(column, '') !== null);
    if (column.members.length > 0 && column.from.length > 0)
      return [isMade ? column.name : listValue(column), column.name, column];
    const selected =
      column.marks.has('key') && column.sql !== null ? { ...column, sql: column.name } : column;
    return [columnValue(selected, columnCasts), column.name, column];
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

/** The slot of a row, or of a group, is the record's, or else its page's. */
function slotColumns({ model, slots, groups }: Mapping): [string, string, null][] {
  const own = slots.map(({ name }) => name);
  const slotOf = (names: readonly string[]) =>
    names.length === 0 ? 'page_slot' : `coalesce(${names.join(', ')}, page_slot)`;
  const written = model.columns.find(({ name, sql }) => name === 'slot' && sql !== null)?.sql;
  const ofGroups = own.filter((name) => name !== 'own_slot');
  // If only a group has a slot of its own, a text that comes again would give its groups two slots.
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

/** SQL: whether an answer carries a group. `asked`: the request did; `members`, `null`, `value`: the record has them there. */
function carried(group: string, rule: string): string {
  const conditions: Record<string, string> = {
    asked: `coalesce(list_contains(carries, '${group}'), false)`,
    members: `coalesce(facts.shown_${group}, false)`,
    null: `coalesce(facts.null_${group}, false)`,
    value: `${memberOf('r', [group])} is not null`,
  };
  return rule
    .split(' or ')
    .map((word) => conditions[word] ?? `unknown_word_${word}`)
    .join(' or ');
}

/** `extra`: the members without a column. If groups own objects of the record, each of them has an extra text of its own. */
function extraColumns(mapping: Mapping): [sql: string, name: string, origin: Origin | null][] {
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

/**
 * SQL of an object's members without a column, one text each.
 * @param excluded members whose own unknown members are in another column
 */
function unknownMembers(mapping: Mapping, node: RecordNode, excluded: readonly string[]): string[] {
  const unknown = `case when facts.${factName('more', node.path)} then unknown_members(${textAt(mapping, node.path)}, ${quoteText(nulls(node))}) end`;
  const inside = [...node.children].flatMap(([name, child]) => {
    if (child.checked !== 'here' || excluded.includes(name)) return [];
    if (child.kind === 'object')
      return [`object_member('${name}', ${joined(unknownMembers(mapping, child, []))})`];
    if (child.kind !== 'list') return [];
    return [
      `case when facts.${factName('more', child.path)} then value_member('${name}', ${textAt(mapping, child.path)}) end`,
    ];
  });
  return [unknown, ...inside];
}

function joined(members: readonly string[]): string {
  return members.length === 1 ? (members[0] as string) : `concat_ws(',', ${members.join(', ')})`;
}

/** A patch for json_merge_patch that removes the known members of an object. */
function nulls(node: RecordNode): string {
  return `{${knownMembers(node)
    .map((name) => `"${name}": null`)
    .join(', ')}}`;
}
