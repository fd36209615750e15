import { recognisedRowsSql } from '../load/recognised-rows-sql.ts';
import { quoteName } from '../sql-text.ts';
import { listGroups } from '../warehouse/row-groups.ts';
import { type TableSpec, withoutFollowed } from '../warehouse/table-spec.ts';
import { insertSql } from './insert-sql.ts';
import { type TextSql, textSql } from './text-sql.ts';
import { keyHash, recognisesRows, seenSql, storedSql, verdictSql } from './verdict-sql.ts';

/**
 * The statements that apply one slice of staging files to one merge table. A slice is a run of files and one
 * transaction; applying it again changes nothing (docs/adr/0001). merge-table.ts runs them in this order:
 *
 * 1. `location`, for many slices at once because it scans every key of the table: the hash of each key that the files share
 *    with the table, and its row number, by which DuckDB finds a row without reading the others.
 * 2. `recognised`: the rows that a known text confirms, where the slice has no other row of the key.
 * 3. `seen`: of every other key, where in the files the newest copy of each group is, from narrow columns alone.
 * 4. `stored`: the table's rows under these keys. `verdict`: what becomes of each row (verdict-sql.ts).
 * 5. Confirm, keep the past, insert, delete. Only rows that are new or changed are read in full.
 *
 * A row has a base group and may have others, each from the newest answer that carried it. A staged row whose text was known
 * has no values (`knownRowsSql`). If the stored row still matches that text, the row is confirmed; if not, it is `unrecognised`,
 * and its segment is loaded in full.
 */
export interface MergeSql {
  /** Makes `location`. $files: staging files of one slice or more. */
  location: string;
  /** Makes `recognised`; null for a table without texts. $files: the slice's staging files. */
  recognised: string | null;
  /** Makes `seen`: every key that is not in `recognised`. $files: the slice's staging files. */
  seen: string;
  /** Makes `stored`: the table's rows under keys of `seen`. For a location that another row occupies now, all is NULL but `key_hash`. */
  stored: string;
  /** Makes `verdict`: every key of `seen` with something newer than the table has. */
  verdict: string;
  /** Counts by verdict: `{seen, fresh, inserted, changed, amended, mixed, relocated, without_slot, unrecognised, read}`, bigint. */
  counts: string;
  /** The table's end: `{row}`, the least number that the next row can get. */
  end: string;
  /** Sets slots and times of what is confirmed, one statement a group. */
  confirm: readonly string[];
  /** Gives confirmed rows without a slot that of this answer. */
  setFirstSlot: string;
  /** Makes `old_rows`: the values that new versions keep of the old ones. */
  oldRows: string;
  /** Copies the versions that end to `past`; null for a table without history. */
  keepPast: string | null;
  /** Inserts rows that the table did not have, from one staged row each. $files: the slice's staging files. */
  insertNew: string;
  /** Inserts new versions of stored rows, from one staged row and the old version. $files: the same. */
  insertChanged: string;
  /** Inserts rows and versions that are put together from several staged rows. $files: the same. */
  insertMixed: string;
  /** Deletes the old versions. */
  deleteOld: string;
  /** After the commit: removes the locations of old versions. */
  removeLocations: string;
  /** After the commit: adds the locations of the rows written since. $end: the table's end before. */
  addLocations: string;
  /** The digests of the texts that the slice's rows were read from; null for a table that keeps none. */
  texts: TextSql | null;
}

/**
 * @param columns the table's columns in order
 * @param sourceWentBack whether crawls of `ready` take rows back to lower slots (`ready.rolls_back`): of their answers the later
 *   one is newer, whatever its slot
 */
export function mergeSql(spec: TableSpec, columns: readonly string[], sourceWentBack = false): MergeSql {
  const groups = listGroups(spec, columns);
  const hash = keyHash(spec);
  const recognises = recognisesRows(spec, sourceWentBack);
  const recognisedCount = (where: string) =>
    recognises ? ` + (select count(*) from recognised ${where})` : '';
  return {
    location: `
      create or replace temp table location as
      select ${hash} as key_hash, rowid as target
      from ${spec.name}
      semi join (
        select ${hash} as key_hash from read_parquet($files) semi join ready using (task, crawl)
      ) staged on staged.key_hash = ${hash}`,
    recognised: recognises ? recognisedRowsSql(spec, groups, hash) : null,
    seen: seenSql(spec, groups, sourceWentBack),
    stored: storedSql(spec, groups),
    verdict: verdictSql(spec, groups, sourceWentBack),
    counts: `
      select
        count(*)${recognisedCount(`where ${groups.map(({ name }) => `take_${name}`).join(' or ')}`)} as fresh,
        count(*) filter (where target is null) as inserted,
        count(*) filter (where versioned) as changed,
        count(*) filter (where target is not null and rewritten and not versioned) as amended,
        count(*) filter (where rewritten and not whole) as mixed,
        count(*) filter (where not rewritten and old_changed_slot is null and new_base_slot is not null) as without_slot,
        (select count(*) from seen)${recognisedCount('')} as seen,
        (select count(*) from stored where target is null) as relocated,
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
    setFirstSlot: `
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
    // By hash as well: the row number may belong to another row now, whose location must stay; it shows itself to be wrong.
    removeLocations: `
      delete from location using verdict v
      where v.rewritten and location.target = v.target
        and location.key_hash = ${keyHash(spec, 'v.')}`,
    addLocations: `insert into location select ${hash}, rowid from ${spec.name} where rowid >= $end`,
    texts: spec.texts ? textSql(spec) : null,
  };
}
