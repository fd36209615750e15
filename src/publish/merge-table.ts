import type { TableResult as MergeCounts } from '../library-types.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { bytesPerLocation, bytesPerRow, bytesPerSlice, retryWithMoreMemory } from '../warehouse/memory.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { type MergeSql, mergeSql } from './merge-sql.ts';
import { measureStaged, namesOf, type StagedFile, sumRows, takeSlice } from './slices.ts';

export type { MergeCounts };

export const noRows: MergeCounts = {
  ...{ seen: 0, inserted: 0, changed: 0, amended: 0, confirmed: 0, stale: 0 },
  ...{ late: 0, gone: 0 },
};

/**
 * Applies the ready rows of some staging files to one merge table, slice by slice.
 * @param reloadInFull replaces staging files by ones that are read from the whole text of their segments
 * @param sourceWentBack whether crawls of `ready` take rows back to lower slots (`ready.rolls_back`)
 */
export async function mergeTable(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
  reloadInFull: (files: readonly string[]) => Promise<void>,
  sourceWentBack = false,
): Promise<MergeCounts> {
  const roomBytes = Math.max(1, database.memoryBytes - bytesPerSlice);
  const total = { ...noRows };
  if (files.length === 0) return total;
  const sql = mergeSql(spec, await listColumns(database, spec.name), sourceWentBack);
  const locations = createLocations(database, sql);
  if (sql.texts !== null) await database.run(sql.texts.begin);
  // An estimate until the first verdict says what becomes of the rows.
  let bytes = bytesPerRow.seen;
  for (let remaining = await measureStaged(database, files); remaining.length > 0; ) {
    const maxRows = roomBytes / bytes;
    const slice = takeSlice(await locations.locate(remaining, maxRows), maxRows);
    const files = namesOf(slice);
    const verdict = await retryWithMoreMemory(database, () => makeVerdict(database, sql, files));
    if (verdict.relocated > 0) {
      locations.discard();
      continue;
    }
    if (verdict.unrecognised > 0) {
      await reloadInFull(await listUnrecognised(database, sql, files));
      continue;
    }
    const written = writeBytes(spec, verdict);
    bytes = Math.max(bytesPerRow.seen, written / Math.max(1, sumRows(slice)));
    // Too much to write at once: again, with fewer files.
    if (slice.length > 1 && written > roomBytes) continue;
    await locations.applySlice(slice, verdict, () =>
      retryWithMoreMemory(database, () =>
        database.transaction(() => applyVerdict(database, sql, files, verdict)),
      ),
    );
    await noteReplaced(database, sql, verdict, remaining.length);
    for (const name of Object.keys(total) as (keyof MergeCounts)[]) total[name] += verdict[name];
    remaining = remaining.slice(slice.length);
  }
  if (sql.texts !== null && total.changed + total.amended > 0) await database.run(sql.texts.forgetReplaced);
  return total;
}

/** Staging files of a slice with rows of a known text that the stored row does not match any more. */
async function listUnrecognised(
  database: Database,
  { texts }: MergeSql,
  files: readonly string[],
): Promise<string[]> {
  const rows = await database.rows<{ filename: string }>(texts?.unrecognised ?? '', { files });
  return rows.map(({ filename }) => filename);
}

/** @param remaining staging files that are not applied yet, fewer with each slice: later slices get a higher number */
async function noteReplaced(
  database: Database,
  { texts }: MergeSql,
  { changed, amended }: MergeCounts,
  remaining: number,
): Promise<void> {
  if (texts !== null && changed + amended > 0) await database.run(texts.note, { slice: -remaining });
}

/** Memory that writing a slice's new rows and versions takes, bytes. */
function writeBytes({ history }: TableSpec, { inserted, changed, amended }: MergeCounts): number {
  const past = history ? changed * bytesPerRow.past : 0;
  return inserted * bytesPerRow.inserted + (changed + amended) * bytesPerRow.changed + past;
}

type Verdict = MergeCounts & Record<'mixed' | 'relocated' | 'withoutSlot' | 'unrecognised' | 'read', number>;

/** Makes `recognised`, `seen`, `stored` and `verdict` of a slice. @returns how many rows each verdict has */
async function makeVerdict(database: Database, sql: MergeSql, files: readonly string[]): Promise<Verdict> {
  if (sql.recognised !== null) await database.run(sql.recognised, { files });
  await database.run(sql.seen, { files });
  await database.run(sql.stored);
  await database.run(sql.verdict);
  const [row] = await database.rows<Record<string, bigint>>(sql.counts);
  const count = (name: string) => Number(row?.[name] ?? 0n);
  const [seen, fresh, inserted, changed, amended] = [
    count('seen'),
    count('fresh'),
    count('inserted'),
    count('changed'),
    count('amended'),
  ] as const;
  const confirmed = fresh - inserted - changed - amended;
  const rest = {
    mixed: count('mixed'),
    relocated: count('relocated'),
    withoutSlot: count('without_slot'),
    unrecognised: count('unrecognised'),
    read: count('read'),
  };
  return { seen, inserted, changed, amended, confirmed, stale: seen - fresh, late: 0, gone: 0, ...rest };
}

async function applyVerdict(
  database: Database,
  sql: MergeSql,
  files: readonly string[],
  { inserted, changed, amended, confirmed, mixed, withoutSlot, read }: Verdict,
): Promise<void> {
  if (confirmed > 0) for (const statement of sql.confirm) await database.run(statement);
  if (withoutSlot > 0) await database.run(sql.setFirstSlot);
  // Insert before delete, because new versions are made from the old ones.
  if (changed + amended + mixed > 0) await database.run(sql.oldRows);
  if (changed > 0 && sql.keepPast !== null) await database.run(sql.keepPast);
  if (inserted > 0) await database.run(sql.insertNew, { files });
  if (changed + amended > 0) await database.run(sql.insertChanged, { files });
  if (mixed > 0) await database.run(sql.insertMixed, { files });
  if (changed + amended > 0) await database.run(sql.deleteOld);
  // In the rows' transaction: a stored digest promises that its row is there.
  if (sql.texts !== null && read > 0) {
    await database.run(sql.texts.forget);
    await database.run(sql.texts.add);
  }
}

/** How many rows a slice writes. */
type Written = Record<'inserted' | 'changed' | 'amended', number>;

/**
 * The locations of the table's rows that staging files have keys of (`location`). They are looked up for many slices at once,
 * because that scans all keys of the table, and updated while slices are applied (docs/adr/0001).
 */
export interface Locations {
  /** @returns the first of the files whose rows are located; if none is, makes `location` of the next, for `leastRows` at least */
  locate(remaining: readonly StagedFile[], leastRows: number): Promise<readonly StagedFile[]>;
  /** Applies a slice of the located files by `apply`, and checkpoints. */
  applySlice(slice: readonly StagedFile[], verdict: Written, apply: () => Promise<void>): Promise<void>;
  /**
   * Discards the locations, because rows of a slice were found elsewhere: a checkpoint removes row groups that have no row left,
   * and renumbers those behind them. @throws Error if they were looked up just now
   */
  discard(): void;
}

export function createLocations(database: Database, sql: MergeSql): Locations {
  const maxRows = database.memoryBytes / bytesPerLocation;
  let located: readonly StagedFile[] = [];
  let isFresh = false;
  // Rows to locate at once.
  let ahead = maxRows;
  return {
    async locate(remaining, leastRows) {
      isFresh = located.length === 0;
      if (!isFresh) return located;
      const rows = Math.max(ahead, leastRows);
      const files = takeSlice(remaining, rows);
      await retryWithMoreMemory(database, () => database.run(sql.location, { files: namesOf(files) }));
      located = files;
      ahead = Math.min(maxRows, rows * 2);
      return located;
    },
    async applySlice(slice, { inserted, changed, amended }, apply) {
      located = located.slice(slice.length);
      const replaces = changed + amended > 0;
      const isKept = located.length > 0 && (inserted > 0 || replaces);
      const [end] = isKept ? await database.rows<{ row: bigint }>(sql.end) : [];
      await apply();
      // Before the checkpoint, which may renumber rows: their locations are then wrong, which shows, and not missing.
      if (isKept && replaces) await database.run(sql.removeLocations);
      if (isKept) await database.run(sql.addLocations, { end: end?.row ?? 0n });
      await retryWithMoreMemory(database, () => database.run('checkpoint'));
    },
    discard() {
      if (isFresh) throw new Error('rows are not where they were found a moment ago');
      located = [];
      // Where one slice emptied row groups, the next may too: few rows at first.
      ahead = 0;
    },
  };
}
