import { recognisedRowsSql } from '../load/recognised-rows-sql.ts';
import { carriedBits, carriesGroup, textHash } from '../load/text-hash.ts';
import { quoteName, quoteText } from '../sql-text.ts';
import { type Group, listGroups, stagedHash } from '../warehouse/row-groups.ts';
import { type TableSpec, withoutFollowed } from '../warehouse/table-spec.ts';
import { type TextSql, textSql } from '../warehouse/text-sql.ts';
import { insertSql } from './insert-sql.ts';

/**
 * The statements that apply one slice of staging files to one merge table. A slice is a run of files, one
 * transaction; applying it again changes nothing (docs/adr/0001).
 *
 * A row has a base group and may have others, each from the newest answer that carried it. `seen` finds, from
 * narrow columns alone, where in the files each key's newest copy of each group stands; `verdict` compares that
 * with the table; only rows that are new or changed are read in full.
 *
 * A staged row whose text was known has no values (`knownRowsSql`): it confirms the groups that it carries, if the table's
 * row still is what the text made of it. Where it is not, the row is `unrecognised`, and its text has to be read.
 *
 * Looking for keys reads all of the table's, so it is done once for many slices: `place` has the hash of every key
 * that is there, and its row number, by which DuckDB finds a row without reading the others.
 */
export interface MergeSql {
  /** $files: staging files of one slice or more. Makes `place`. */
  place: string;
  /** $files: the slice's staging files. Makes `recognised`; null for a table that knows no texts. */
  recognised: string | null;
  /** $files: the slice's staging files. Makes `seen`: every key that is not in `recognised`. */
  seen: string;
  /** Makes `known`: the slice's rows that the table has; all NULL but `place_hash` where a place is another row's now. */
  known: string;
  /** Makes `verdict`: every key of the slice with something newer than the table has. */
  verdict: string;
  /** Counts: `{seen, fresh, inserted, changed, amended, mixed, moved, unplaced, unrecognised, read}` as bigint. */
  counts: string;
  /** The table's end: `{row}`, the number that the next row gets, at least. */
  end: string;
  /** Moves slots and times of what is confirmed, one statement a group. */
  confirm: readonly string[];
  /** Rows that are confirmed and never had a slot: they are known to be as they are from this one on. */
  placeRows: string;
  /** Makes `old_rows`: what the new versions keep of the old ones. */
  oldRows: string;
  /** Keeps the versions that end, in `past`; null for a table without history. */
  keepPast: string | null;
  /** $files. Rows that the table did not have, from one staged row each. */
  insertNew: string;
  /** $files. New versions of rows that the table has, from one staged row and the old version. */
  insertChanged: string;
  /** $files. Rows put together from several staged rows, new ones and new versions. */
  insertMixed: string;
  /** Old versions of both. */
  deleteOld: string;
  /** After the commit: forgets the places of old versions. */
  forgetOld: string;
  /** $end, from before. After the commit: adds the places of rows that were written since. */
  addPlaces: string;
  /** The digests of the texts that the slice's rows were read from; null for a table that keeps none. */
  texts: TextSql | null;
}

/**
 * @param columns the table's columns in order
 * @param rollsBack whether crawls of `ready` take rows back to lower slots: of theirs the later answer is newer
 */
export function mergeSql(spec: TableSpec, columns: readonly string[], rollsBack = false): MergeSql {
  const groups = listGroups(spec, columns);
  const hash = keyHash(spec);
  const recognises = recognisesRows(spec, rollsBack);
  const recognisedCount = (where: string) =>
    recognises ? ` + (select count(*) from recognised ${where})` : '';
  return {
    place: `
      create or replace temp table place as
      select ${hash} as place_hash, rowid as target
      from ${spec.name}
      semi join (
        select ${hash} as place_hash from read_parquet($files) semi join ready using (task, crawl)
      ) staged on staged.place_hash = ${hash}`,
    recognised: recognises ? recognisedRowsSql(spec, groups, hash) : null,
    seen: seenSql(spec, groups, rollsBack),
    known: knownSql(spec, groups),
    verdict: verdictSql(spec, groups, rollsBack),
    counts: `
      select
        count(*)${recognisedCount(`where ${groups.map(({ name }) => `take_${name}`).join(' or ')}`)} as fresh,
        count(*) filter (where target is null) as inserted,
        count(*) filter (where versioned) as changed,
        count(*) filter (where target is not null and rewritten and not versioned) as amended,
        count(*) filter (where rewritten and not whole) as mixed,
        count(*) filter (where not rewritten and old_changed_slot is null and new_base_slot is not null) as unplaced,
        (select count(*) from seen)${recognisedCount('')} as seen,
        (select count(*) from known where target is null) as moved,
        ${spec.texts ? 'count(*) filter (where unrecognised) as unrecognised, count(text_digest) as read' : '0 as unrecognised, 0 as read'}
      from verdict`,
    end: `select coalesce(max(rowid) + 1, 0) as row from ${spec.name}`,
    confirm: groups.map(
      (group) => `
      update ${spec.name} set ${group.slot} = v.slot, ${group.seenAt} = v.seen_at
      from (
        select target, new_${group.name}_slot as slot, new_${group.name}_seen_at as seen_at
        from verdict
        where not rewritten and take_${group.name}
        ${recognises ? `union all select target, slot, seen_at from recognised where take_${group.name}` : ''}
      ) v
      where ${spec.name}.rowid = v.target`,
    ),
    placeRows: `
      update ${spec.name} set
        changed_slot = v.new_base_slot,
        first_seen_slot = coalesce(${spec.name}.first_seen_slot, v.new_base_slot)
      from verdict v
      where ${spec.name}.rowid = v.target and not v.rewritten and v.old_changed_slot is null and v.take_base`,
    oldRows: `
      create or replace temp table old_rows as
      select v.target, ${groups.flatMap((group) => [...group.columns, group.slot, group.seenAt].map((column) => `t.${quoteName(column)}`)).join(', ')}
      from ${spec.name} t
      join (select target from verdict where rewritten and needs_old) v on t.rowid = v.target`,
    keepPast: spec.history
      ? `
      insert into past.${spec.name} by name
      select t.* ${withoutFollowed(spec)}, v.new_changed_slot as valid_to_slot, v.new_changed_at as valid_to
      from ${spec.name} t
      join (select target, new_changed_slot, new_changed_at from verdict where versioned) v on t.rowid = v.target`
      : null,
    insertNew: insertSql(spec, columns, groups, 'new'),
    insertChanged: insertSql(spec, columns, groups, 'changed'),
    insertMixed: insertSql(spec, columns, groups, 'mixed'),
    deleteOld: `delete from ${spec.name} where rowid in (select target from verdict where rewritten and target is not null)`,
    // By its hash too: a number may be another row's meanwhile, whose place stays, and is found to be wrong.
    forgetOld: `
      delete from place using verdict v
      where v.rewritten and place.target = v.target
        and place.place_hash = ${keyHash(spec, 'v.')}`,
    addPlaces: `insert into place select ${hash}, rowid from ${spec.name} where rowid >= $end`,
    texts: spec.texts ? textSql(spec) : null,
  };
}

/** Whether `recognised` is made: of a crawl that takes rows back, every row is compared with the table's. */
function recognisesRows({ texts }: TableSpec, rollsBack: boolean): boolean {
  return texts && !rollsBack;
}

function keyList(spec: TableSpec): string {
  return spec.key.map(quoteName).join(', ');
}

/** What `place` knows a key by. @param from alias with its dot */
function keyHash(spec: TableSpec, from = ''): string {
  return `hash(${spec.key.map((column) => `${from}${quoteName(column)}`).join(', ')})`;
}

function seenSql(spec: TableSpec, groups: readonly Group[], rollsBack: boolean): string {
  const order = rollsBack ? 'rolls_back, ' : '';
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
      ...(rollsBack ? ['rolls_back := rolls_back'] : []),
    ];
    const newest = `max_by(struct_pack(${fields.join(', ')}), (${order}coalesce(${slot}, stand_in_slot, -1), seen_at, page, n))`;
    return `${newest} filter (where ${group.carried}) as ${group.name}`;
  });
  return `
    create or replace temp table seen as
    select ${keyList(spec)}, ${copies.join(',\n      ')}
    from read_parquet($files, file_row_number = true)
    join (select task, crawl, stand_in_slot${rollsBack ? ', rolls_back' : ''} from ready) using (task, crawl)
    ${recognisesRows(spec, rollsBack) ? `anti join recognised using (${keyList(spec)})` : ''}
    ${spec.final === null ? '' : missedSlots(spec)}
    where ${spec.key.map((column) => `${quoteName(column)} is not null`).join(' and ')}
    group by ${keyList(spec)}`;
}

/**
 * The slot of a staged row. An answer may give a record the slot at which it was indexed, which is older than the row's. What
 * is final by then is so at the slot of the list that missed the row, too: it is why the list did.
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
function isNewer(group: Group, rollsBack: boolean): string {
  const staged = `s.${group.name}`;
  return `(case
      when ${staged} is null then false
      when t.${group.seenAt} is null then true${rollsBack ? `\n      when ${staged}.rolls_back then ${staged}.seen_at > t.${group.seenAt}` : ''}
      when ${staged}.slot <> t.${group.slot} then ${staged}.slot > t.${group.slot}
      else ${staged}.seen_at > t.${group.seenAt}
    end)`;
}

/** Rows that are gone come back only with an answer that is newer than the one that said so. */
function notGone(spec: TableSpec, rollsBack: boolean): string {
  const hasNoSlot = rollsBack ? 's.base.rolls_back or s.base.slot is null' : 's.base.slot is null';
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

function knownSql(spec: TableSpec, groups: readonly Group[]): string {
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
    create or replace temp table known as
    select p.place_hash, t.*
    from (
      from place semi join (select ${keyHash(spec)} as place_hash from seen) using (place_hash)
    ) p
    left join (select rowid as target, ${narrow.join(', ')} from ${spec.name}) t
      on t.target = p.target and ${keyHash(spec, 't.')} = p.place_hash`;
}

function verdictSql(spec: TableSpec, groups: readonly Group[], rollsBack: boolean): string {
  // What is taken with a known text has the values of the old row.
  const writes = (group: Group) =>
    spec.texts ? `take_${group.name} and s.${group.name}.row_hash is null` : `take_${group.name}`;
  const takes = groups.flatMap((group) => [
    `${isNewer(group, rollsBack)} as take_${group.name}`,
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
  const place = (group: Group) => `(${group.name}.file_index, ${group.name}.file_row_number)`;
  const wholeTerms = groups
    .slice(1)
    .map((group) => `(not write_${group.name} or ${place(group)} = ${place(groups[0] as Group)})`);
  // What says no slot is newer than the row by its time, so it is true at the row's slot at least.
  const slotOf = ({ name, slot }: Group) => `coalesce(${name}.slot, old.${slot})`;
  const newest = (fieldOf: (group: Group) => string) =>
    `greatest(${groups.map((group) => `if(take_${group.name}, ${fieldOf(group)}, null)`).join(', ')})`;
  const newestSlot = newest(slotOf);
  const laterSlot = `greatest(${newestSlot}, old.changed_slot)`;
  const changedSlot = rollsBack ? `if(base.rolls_back, base.slot, ${laterSlot})` : laterSlot;
  // Flat and narrow: this table is what the wide rows are joined with.
  const fields = groups.flatMap((group) => [
    `take_${group.name}`,
    `write_${group.name}`,
    `${slotOf(group)} as new_${group.name}_slot`,
    ...movedFields(group),
  ]);
  return `
    create or replace temp table verdict as
    with compared as (
      select s.*, t.target, t as old, ${takes.join(',\n        ')}
      from seen s
      left join known t using (${keyList(spec)})
      ${spec.history ? notGone(spec, rollsBack) : ''}
    )
    select ${keyList(spec)},
      target,
      old.first_seen_slot as old_first_seen_slot,
      old.changed_slot as old_changed_slot,
      ${spec.history ? 'old.changed_at' : 'null::timestamptz'} as old_changed_at,
      old.run_id as old_run_id,
      ${fields.join(',\n      ')},
      target is null or ${hashDiffers.join(' or ')} as changed,
      -- What changed at a slot of its own. Slots and times of versions never go back, whatever arrives late.
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

/** Of one group's newest copy, what `verdict` has besides its slot. */
function movedFields({ name, hash }: Group): string[] {
  return [
    `${name}.seen_at as new_${name}_seen_at`,
    `${name}.run_id as new_${name}_run_id`,
    `if(write_${name}, ${name}.hash, old.${hash}) as new_${name}_hash`,
    `${name}.file_index as ${name}_file`,
    `${name}.file_row_number as ${name}_row`,
  ];
}

/**
 * Columns of `verdict` that say what is known of texts: whether a row is `unrecognised`, and the digest of the text that it is read
 * from now, NULL where another answer has a part in it.
 */
function textColumns(groups: readonly Group[]): string {
  const [base, ...named] = groups as [Group, ...Group[]];
  const place = (group: Group) => `(${group.name}.file_index, ${group.name}.file_row_number)`;
  const isUnrecognised = (group: Group) => {
    const { name } = group;
    const hash = textHash(groups, `${name}.carried`, (of) => [`old.${of.hash}`, `old.${of.name}_volatile`]);
    return `(take_${name} and not write_${name} and (target is null or ${name}.row_hash <> ${hash}))`;
  };
  const isRead = named.map(
    (group) =>
      `(not ${carriesGroup(groups, group, 'base.carried')} or write_${group.name} and ${place(group)} = ${place(base)})`,
  );
  const made = textHash(groups, 'base.carried', ({ name }) => [`new_${name}_hash`, `${name}.volatile`]);
  return `${groups.map(isUnrecognised).join(' or ')} as unrecognised,
      if(${['write_base', ...isRead].join(' and ')}, base.digest, null) as text_digest,
      base.carried as text_carried,
      base.own_slot as text_own_slot,
      base.final as text_final,
      if(text_digest is null, null, ${made}) as text_row_hash`;
}
