import { quoteName } from '../sql-text.ts';
import type { Group } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { carriedBits, carriesGroup, textHash } from './text-hash.ts';

/**
 * Makes `recognised`: the rows of a slice ($files) that a known text confirms and that are the slice's only rows of their key.
 * Most rows of most nights are such and need nothing else. `seen` handles all other rows: keys with several rows, rows without
 * a slot, final rows, and rows that are not where `location` says or no longer equal what their text made.
 * Columns: the key, target, slot and seen_at; take_<group>: whether the group is newer than the table's.
 */
export function recognisedRowsSql(spec: TableSpec, groups: readonly Group[], keyHash: string): string {
  const keys = spec.key.map(quoteName);
  const takes = groups.map((group) => {
    const newer = `case
        when s.slot <> t.${group.slot} then s.slot > t.${group.slot}
        else s.seen_at > t.${group.seenAt}
      end`;
    return `${carriesGroup(groups, group, 's.carried')} and ${newer} as take_${group.name}`;
  });
  const rowColumns = groups.flatMap(({ name, slot, seenAt, hash, volatileHash }) => [
    ...[slot, seenAt, hash],
    ...(volatileHash === null ? [] : [`${volatileHash} as ${name}_volatile`]),
  ]);
  const rowHash = textHash(groups, 's.carried', ({ name, hash }) => [`t.${hash}`, `t.${name}_volatile`]);
  const single = ['slot', 'seen_at', 'row_hash', 'carried'].map((name) => `any_value(${name}) as ${name}`);
  return `
    create or replace temp table recognised as
    with single as (
      select ${[...keys, ...single].join(', ')}
      from (
        select ${keys.join(', ')}, coalesce(slot, stand_in_slot) as slot, seen_at, row_hash,
          ${carriedBits(groups)} as carried
        from read_parquet($files)
        join (select task, crawl, stand_in_slot from ready) using (task, crawl)
        where ${keys.map((key) => `${key} is not null`).join(' and ')}
          ${spec.final === null ? '' : `and ${quoteName(spec.final)} is not true`}
      )
      group by ${keys.join(', ')}
      having count(*) = 1 and count(row_hash) = 1
    )
    select ${keys.map((key) => `s.${key}`).join(', ')}, t.target, s.slot, s.seen_at,
      ${takes.join(',\n      ')}
    from (select single.*, location.target from single join location on key_hash = ${keyHash}) s
    join (select rowid as target, changed_slot, ${[...keys, ...rowColumns].join(', ')} from ${spec.name}) t
      on t.target = s.target and ${keys.map((key) => `t.${key} = s.${key}`).join(' and ')}
    where s.slot is not null and t.changed_slot is not null and s.row_hash = ${rowHash}`;
}
