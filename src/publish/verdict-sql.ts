import { carriedBits, carriesGroup, textHash } from '../load/text-hash.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { type Group, stagedHash } from '../warehouse/row-groups.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';

/** Whether `recognised` is made. Every row of a crawl that takes rows back is compared with the table's. */
export function recognisesRows({ texts }: TableSpec, sourceWentBack: boolean): boolean {
  return texts && !sourceWentBack;
}

function keyList(spec: TableSpec): string {
  return spec.key.map(quoteName).join(', ');
}

/** The hash by which `location` identifies a key. @param from alias with its dot */
export function keyHash(spec: TableSpec, from = ''): string {
  return `hash(${spec.key.map((column) => `${from}${quoteName(column)}`).join(', ')})`;
}

/** Makes `seen` ($files): every key of the slice that is not in `recognised`, with the newest copy of each group. */
export function seenSql(spec: TableSpec, groups: readonly Group[], sourceWentBack: boolean): string {
  const order = sourceWentBack ? 'rolls_back, ' : '';
  const copies = groups.map((group) => {
    const slot = group.name === 'base' ? baseSlot(spec) : group.slot;
    const fields = [
      `slot := coalesce(${slot}, stand_in_slot)`,
      'seen_at := seen_at',
      'run_id := run_id',
      `hash := ${stagedHash(group)}`,
      ...(group.volatileHash === null ? [] : [`volatile := ${group.volatileHash}`]),
      ...(spec.texts ? ['row_hash := row_hash', `carried := ${carriedBits(groups)}`] : []),
      ...(spec.texts && group.name === 'base'
        ? ['digest := digest', 'own_slot := own_slot', `final := ${finalOf(spec)}`]
        : []),
      'file_index := file_index',
      'file_row_number := file_row_number',
      ...(sourceWentBack ? ['rolls_back := rolls_back'] : []),
    ];
    const newest = `max_by(struct_pack(${fields.join(', ')}), (${order}coalesce(${slot}, stand_in_slot, -1), seen_at, page, n))`;
    return `${newest} filter (where ${group.carried}) as ${group.name}`;
  });
  return `
    create or replace temp table seen as
    select ${keyList(spec)}, ${copies.join(',\n      ')}
    from read_parquet($files, file_row_number = true)
    join (select task, crawl, stand_in_slot${sourceWentBack ? ', rolls_back' : ''} from ready) using (task, crawl)
    ${recognisesRows(spec, sourceWentBack) ? `anti join recognised using (${keyList(spec)})` : ''}
    ${spec.final === null ? '' : missedSlots(spec)}
    where ${spec.key.map((column) => `${quoteName(column)} is not null`).join(' and ')}
    group by ${keyList(spec)}`;
}

/**
 * The slot of a staged row. An answer may give a record the slot at which it was indexed, which is older than the row's. A
 * final (burnt) row is dated at least at the slot of the list that missed it, because burning is why the list did.
 */
function baseSlot({ final }: TableSpec): string {
  return final === null ? 'slot' : `if(${quoteName(final)}, greatest(slot, missed_slot), slot)`;
}

function finalOf({ final }: TableSpec): string {
  return final === null ? 'null::boolean' : quoteName(final);
}

function missedSlots({ name, key }: TableSpec): string {
  return `left join (
      select key as ${quoteName(key[0] as string)}, slot as missed_slot from meta.absent where table_name = ${quoteText(name)}
    ) using (${quoteName(key[0] as string)})`;
}

/**
 * Newer wins by slot where both have one, else by the time it was seen; the same copy again is not newer.
 * Written once for every group.
 */
function isNewer(group: Group, sourceWentBack: boolean): string {
  const staged = `s.${group.name}`;
  return `(case
      when ${staged} is null then false
      when t.${group.seenAt} is null then true${sourceWentBack ? `\n      when ${staged}.rolls_back then ${staged}.seen_at > t.${group.seenAt}` : ''}
      when ${staged}.slot <> t.${group.slot} then ${staged}.slot > t.${group.slot}
      else ${staged}.seen_at > t.${group.seenAt}
    end)`;
}

/** Rows that are gone come back only with an answer that is newer than the one that said so. */
function notGoneSince(spec: TableSpec, sourceWentBack: boolean): string {
  const hasNoSlot = sourceWentBack ? 's.base.rolls_back or s.base.slot is null' : 's.base.slot is null';
  return `
      left join (
        select ${keyList(spec)}, max(valid_to_slot) as gone_slot, max(valid_to) as gone_at
        from past.${spec.name}
        where gone_reason is not null
        group by ${keyList(spec)}
      ) g using (${keyList(spec)})
      where t.target is not null or g.gone_at is null
        or if(${hasNoSlot} or g.gone_slot is null, s.base.seen_at > g.gone_at, s.base.slot > g.gone_slot)`;
}

/** Makes `stored`: the table's rows under keys of `seen`, with slots, times and hashes. */
export function storedSql(spec: TableSpec, groups: readonly Group[]): string {
  const narrow = [
    ...spec.key.map(quoteName),
    ...groups.flatMap((group) => [group.slot, group.seenAt, group.hash]),
    ...groups.flatMap(({ name, volatileHash }) =>
      volatileHash === null ? [] : `${volatileHash} as ${name}_volatile`,
    ),
    'first_seen_slot',
    'changed_slot',
    ...(spec.history ? ['changed_at'] : []),
    'run_id',
  ];
  return `
    create or replace temp table stored as
    select l.key_hash, t.*
    from (
      from location semi join (select ${keyHash(spec)} as key_hash from seen) using (key_hash)
    ) l
    left join (select rowid as target, ${narrow.join(', ')} from ${spec.name}) t
      on t.target = l.target and ${keyHash(spec, 't.')} = l.key_hash`;
}

/**
 * Makes `verdict`: every key of `seen` with something newer than the table has. `target` is the number of the stored row, NULL for a
 * new one; `old` is that row, `s` and `<group>` the newest staged copies. What it says of a row:
 *
 * | column | holds when |
 * |---|---|
 * | `take_<group>` | the staged copy of the group is newer than the row's |
 * | `write_<group>` | the same, and its values are staged; those of a known text are the stored row's |
 * | `changed` | the row is new, or the hash of a written group differs |
 * | `versioned` | a stored row changed, at another slot than before: the old version goes to `past` |
 * | `rewritten` | changed, or a group was carried for the first time, or only volatile columns differ |
 * | `whole` | one staged row has all groups that are written, the base among them |
 * | `needs_old` | some group keeps the values of the stored row |
 * | `unrecognised` | a known text is taken, and the stored row is not what that text made of it |
 *
 * merge-sql.ts counts them as `inserted` (no target), `changed` (versioned), `amended` (a stored row rewritten without a version) and
 * `mixed` (rewritten, not whole); all other rows of `verdict` are confirmed.
 */
export function verdictSql(spec: TableSpec, groups: readonly Group[], sourceWentBack: boolean): string {
  const writes = (group: Group) =>
    spec.texts ? `take_${group.name} and s.${group.name}.row_hash is null` : `take_${group.name}`;
  const takes = groups.flatMap((group) => [
    `${isNewer(group, sourceWentBack)} as take_${group.name}`,
    `${writes(group)} as write_${group.name}`,
  ]);
  // A group that was never carried before is filled, not changed.
  const hashDiffers = groups.map(
    (group) =>
      `(write_${group.name} and old.${group.seenAt} is not null and ${group.name}.hash is distinct from old.${group.hash})`,
  );
  const filled = groups.slice(1).map((group) => `(write_${group.name} and old.${group.seenAt} is null)`);
  const volatileDiffers = groups.flatMap(({ name, volatileHash }) =>
    volatileHash === null ? [] : `(write_${name} and ${name}.volatile is distinct from old.${name}_volatile)`,
  );
  const wholeTerms = groups
    .slice(1)
    .map((group) => `(not write_${group.name} or ${position(group)} = ${position(groups[0] as Group)})`);
  // An answer without a slot is newer by its time, so it is true at the row's slot at least.
  const slotOf = ({ name, slot }: Group) => `coalesce(${name}.slot, old.${slot})`;
  const newest = (fieldOf: (group: Group) => string) =>
    `greatest(${groups.map((group) => `if(take_${group.name}, ${fieldOf(group)}, null)`).join(', ')})`;
  const newestSlot = newest(slotOf);
  const laterSlot = `greatest(${newestSlot}, old.changed_slot)`;
  const changedSlot = sourceWentBack ? `if(base.rolls_back, base.slot, ${laterSlot})` : laterSlot;
  // Flat and narrow: this table is what the wide rows are joined with.
  const fields = groups.flatMap((group) => [
    `take_${group.name}`,
    `write_${group.name}`,
    `${slotOf(group)} as new_${group.name}_slot`,
    ...takenFields(group),
  ]);
  return `
    create or replace temp table verdict as
    with compared as (
      select s.*, t.target, t as old, ${takes.join(',\n        ')}
      from seen s
      left join stored t using (${keyList(spec)})
      ${spec.history ? notGoneSince(spec, sourceWentBack) : ''}
    )
    select ${keyList(spec)},
      target,
      old.first_seen_slot as old_first_seen_slot,
      old.changed_slot as old_changed_slot,
      ${spec.history ? 'old.changed_at' : 'null::timestamptz'} as old_changed_at,
      old.run_id as old_run_id,
      ${fields.join(',\n      ')},
      target is null or ${hashDiffers.join(' or ')} as changed,
      -- When the change took place. Slots and times of versions never go backwards, however late an answer arrives.
      if(${newestSlot} is null, null, ${changedSlot}) as new_changed_slot,
      greatest(${newest(({ name }) => `${name}.seen_at`)}, ${spec.history ? 'old.changed_at' : 'null'}) as new_changed_at,
      changed and target is not null and new_changed_slot is distinct from coalesce(old.changed_slot, -1) as versioned,
      changed or ${[...filled, ...volatileDiffers, 'false'].join(' or ')} as rewritten,
      ${['write_base', ...wholeTerms].join(' and ')} as whole,
      ${groups.map(({ name, seenAt }) => `(not write_${name} and old.${seenAt} is not null)`).join(' or ')} as needs_old
      ${spec.texts ? `, ${textColumns(groups)}` : ''}
    from compared
    where ${groups.map((group) => `take_${group.name}`).join(' or ')}`;
}

/** Where the newest copy of a group is in the slice's files. */
function position({ name }: Group): string {
  return `(${name}.file_index, ${name}.file_row_number)`;
}

/** Columns of `verdict` from the newest copy of a group, without its slot. */
function takenFields({ name, hash }: Group): string[] {
  return [
    `${name}.seen_at as new_${name}_seen_at`,
    `${name}.run_id as new_${name}_run_id`,
    `if(write_${name}, ${name}.hash, old.${hash}) as new_${name}_hash`,
    `${name}.file_index as ${name}_file`,
    `${name}.file_row_number as ${name}_row`,
  ];
}

/**
 * Columns of `verdict` about texts: whether a row is `unrecognised`, and the digest of the text that the row is read from now,
 * NULL where another answer has a part in it.
 */
function textColumns(groups: readonly Group[]): string {
  const [base, ...named] = groups as [Group, ...Group[]];
  const isUnrecognised = (group: Group) => {
    const { name } = group;
    const hash = textHash(groups, `${name}.carried`, (of) => [`old.${of.hash}`, `old.${of.name}_volatile`]);
    return `(take_${name} and not write_${name} and (target is null or ${name}.row_hash <> ${hash}))`;
  };
  const isRead = named.map(
    (group) =>
      `(not ${carriesGroup(groups, group, 'base.carried')} or write_${group.name} and ${position(group)} = ${position(base)})`,
  );
  const textRowHash = textHash(groups, 'base.carried', ({ name }) => [
    `new_${name}_hash`,
    `${name}.volatile`,
  ]);
  return `${groups.map(isUnrecognised).join(' or ')} as unrecognised,
      if(${['write_base', ...isRead].join(' and ')}, base.digest, null) as text_digest,
      base.carried as text_carried,
      base.own_slot as text_own_slot,
      base.final as text_final,
      if(text_digest is null, null, ${textRowHash}) as text_row_hash`;
}
