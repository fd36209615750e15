import { readTableSpec, readTableSpecs } from '../src/warehouse/table-spec.ts';
import { apart, type Relation, relationGroups, relations } from './entity-relations.ts';

/** One side of a relation. */
interface Side {
  table: string;
  columns: string[];
}

/** The diagrams of docs/reference/entities.md, each with its joins in words. */
export function describeEntities(): string {
  const parts = Object.entries(relationGroups).map(([group, title]) => {
    const grouped = relations.filter((relation) => relation.group === group);
    return `## ${title}\n\n${diagram(grouped)}\n\n${joinTable(grouped)}`;
  });
  const alone = Object.entries(apart).map(([table, why]) => `* \`${table}\`: ${why}`);
  return [...parts, `## Tables that join none\n\n${alone.join('\n')}`].join('\n\n');
}

/** The two sides of a relation: `assets.id = token_accounts.mint`. Pure. */
export function sidesOf({ on }: Pick<Relation, 'on'>): [Side, Side] {
  const sides = on.split(' = ').map((side) => {
    const [table = '', columns = ''] = side.split('.');
    return { table, columns: columns.split(', ') };
  });
  return sides as [Side, Side];
}

/** The join condition; a list on the right has to contain the value on the left. */
export function joinCondition(relation: Pick<Relation, 'on'>): string {
  const [left, right] = sidesOf(relation);
  const pairs = left.columns.map((column, n) => {
    const [from, to] = [`${left.table}.${column}`, `${right.table}.${right.columns[n]}`];
    return typeOf(right.table, right.columns[n]!).endsWith('[]')
      ? `list_contains(${to}, ${from})`
      : `${from} = ${to}`;
  });
  return pairs.join(' and ');
}

/** Tables that neither a relation nor `apart` names. */
export function listForgottenTables(): string[] {
  const named = new Set([
    ...relations.flatMap((one) => sidesOf(one).map(({ table }) => table)),
    ...Object.keys(apart),
  ]);
  return readTableSpecs().flatMap(({ name }) => (named.has(name) ? [] : name));
}

/** A diagram of keys and join columns only: with all 250 columns it would be unreadable. */
function diagram(grouped: readonly Relation[]): string {
  const lines = grouped.map((relation) => {
    const [left, right] = sidesOf(relation);
    const label = left.columns.map((column, n) => `${column} = ${right.columns[n]}`).join(', ');
    return `  ${left.table} ${ends[relation.rows]} ${right.table} : "${label}"`;
  });
  const sides = grouped.flatMap(sidesOf);
  for (const table of new Set(sides.map((side) => side.table))) {
    const { key } = readTableSpec(table);
    const joining = sides.flatMap((side) => (side.table === table ? side.columns : []));
    const columns = [...new Set([...key, ...joining])].map((column) => {
      const marks = [...(key.includes(column) ? ['PK'] : []), ...(isForeign(table, column) ? ['FK'] : [])];
      return `    ${typeOf(table, column)} ${column} ${marks.join(', ')}`.trimEnd();
    });
    lines.push(`  ${table} {`, ...columns, '  }');
  }
  return ['```mermaid', 'erDiagram', ...lines, '```'].join('\n');
}

/** Each side may be without a row of the other. */
const ends: Record<Relation['rows'], string> = {
  'one to one': '|o--o|',
  'one to many': '|o--o{',
  'many to one': '}o--o|',
  'many to many': '}o--o{',
};

/** Whether the column refers to a row of another table. */
function isForeign(table: string, column: string): boolean {
  return relations.some((one) => {
    const [left, right] = sidesOf(one);
    const many = one.rows === 'many to one' ? left : right;
    return many.table === table && many.columns.includes(column);
  });
}

function typeOf(table: string, column: string): string {
  const type = readTableSpec(table).types.get(column);
  if (type === undefined) throw new Error(`${table} has no column ${column}: scripts/entity-relations.ts`);
  return type;
}

function joinTable(grouped: readonly Relation[]): string {
  const rows = grouped.map(
    (relation) => `| \`${joinCondition(relation)}\` | ${relation.rows} | ${relation.why} |`,
  );
  return ['| join | rows | |', '|---|---|---|', ...rows].join('\n');
}
