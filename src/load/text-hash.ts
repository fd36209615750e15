import type { Group } from '../warehouse/row-groups.ts';

/**
 * SQL: whether a text carries a group. Every text carries the base group.
 * @param carried SQL of the bits of the named groups (sql/texts.sql)
 */
export function carriesGroup(groups: readonly Group[], group: Group, carried: string): string {
  const bit = groups.indexOf(group) - 1;
  return bit < 0 ? 'true' : `((${carried} & ${1 << bit}) > 0)`;
}

/** SQL: the bits of the named groups that a staged row carries. */
export function carriedBits(groups: readonly Group[]): string {
  const bits = groups.slice(1).map((group, bit) => `if(${group.carried}, ${1 << bit}, 0)`);
  return bits.length === 0 ? '0::utinyint' : `(${bits.join(' + ')})::utinyint`;
}

/**
 * SQL: a hash of what a text made of a row, over the groups that the text carries with their volatile columns.
 * @param carried SQL of their bits
 * @param of SQL of a group's hash, and of that of its volatile columns
 */
export function textHash(
  groups: readonly Group[],
  carried: string,
  of: (group: Group) => [hash: string, volatileHash: string],
): string {
  const terms = groups.flatMap((group) => {
    const carries = carriesGroup(groups, group, carried);
    return of(group)
      .slice(0, group.volatileHash === null ? 1 : 2)
      .map((term) => (carries === 'true' ? term : `if(${carries}, ${term}, null)`));
  });
  return `hash(${terms.join(', ')})`;
}
