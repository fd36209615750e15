import { castErrors } from './cast-errors.ts';
import { columnValue, everyElementFits, listValue } from './column-sql.ts';
import type { Mapping } from './describe-mapping.ts';
import { extraColumns } from './extra-sql.ts';
import { memberOf, stagedOnly } from './record-tree.ts';
import type { Origin } from './table-model.ts';

/** A line of a mapping, and where it comes from; null: from no line in particular. */
export interface MappingLine {
  sql: string;
  origin: Origin | null;
}

export function line(sql: string, origin: Origin | null = null): MappingLine {
  return { sql, origin };
}

/** The staged row: where it comes from, its slots and groups, its columns, and what could not be cast. */
export function rowsStep(mapping: Mapping, from: string, more: readonly string[] = []): MappingLine[] {
  const { own } = mapping;
  const items = outputs(mapping).map(([sql, name, origin]) =>
    line(`  ${sql === name ? name : `${sql} as ${name}`},`, origin),
  );
  const where = own?.usableOnly === true ? [line('where usable')] : [];
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
    const own = casts.filter((cast) => cast.column === column);
    const isMade =
      column.marks.has('map') || (column.members.length > 0 && everyElementFits(column, '') !== null);
    if (column.members.length > 0 && column.from.length > 0)
      return [isMade ? column.name : listValue(column), column.name, column];
    const made = column.marks.has('key') && column.sql !== null ? { ...column, sql: column.name } : column;
    return [columnValue(made, own), column.name, column];
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

/** A row's slot is what the record says, else that of its page; so it is for each group. */
function slotColumns({ model, slots, groups }: Mapping): [string, string, null][] {
  const own = slots.map(({ name }) => name);
  const slotOf = (names: readonly string[]) =>
    names.length === 0 ? 'page_slot' : `coalesce(${names.join(', ')}, page_slot)`;
  const written = model.columns.find(({ name, sql }) => name === 'slot' && sql !== null)?.sql;
  const ofGroups = own.filter((name) => name !== 'own_slot');
  // Where a group alone has a slot, the groups of a text that comes again would have two.
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

/** Whether an answer speaks of a group. `asked`: the question did. `members`, `null`, `value`: what the record has there. */
function carried(group: string, said: string): string {
  const conditions: Record<string, string> = {
    asked: `coalesce(list_contains(carries, '${group}'), false)`,
    members: `coalesce(facts.shown_${group}, false)`,
    null: `coalesce(facts.null_${group}, false)`,
    value: `${memberOf('r', [group])} is not null`,
  };
  return said
    .split(' or ')
    .map((word) => conditions[word] ?? `unknown_word_${word}`)
    .join(' or ');
}
