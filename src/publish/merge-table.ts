import type { TableResult as MergeCounts } from '../library-types.ts';
import { type Database, listColumns } from '../warehouse/database.ts';
import { bytesPerPlace, bytesPerRow, bytesPerSlice, retryWithMoreMemory } from '../warehouse/memory.ts';
import type { TableSpec } from '../warehouse/table-spec.ts';
import { type MergeSql, mergeSql } from './merge-sql.ts';
import { countRows, namesOf, type StagedFile, sumRows, takeSlice } from './slices.ts';

export type { MergeCounts };

export const noRows: MergeCounts = {
  ...{ seen: 0, inserted: 0, changed: 0, amended: 0, confirmed: 0, stale: 0 },
  ...{ late: 0, gone: 0 },
};

/**
 * Applies the ready rows of some staging files to one merge table, slice by slice.
 * @param loadAgain makes staging files anew, in their places, from the whole text of their segments
 * @param rollsBack whether there are crawls among them that take rows back to lower slots (`ready.rolls_back`)
 */
export async function mergeTable(
  database: Database,
  spec: TableSpec,
  files: readonly string[],
  loadAgain: (files: readonly string[]) => Promise<void>,
  rollsBack = false,
): Promise<MergeCounts> {
  const roomBytes = Math.max(1, database.memoryBytes - bytesPerSlice);
  const total = { ...noRows };
  if (files.length === 0) return total;
  const sql = mergeSql(spec, await listColumns(database, spec.name), rollsBack);
  const places = createPlaces(database, sql);
  if (sql.texts !== null) await database.run(sql.texts.begin);
  // What a row takes is known when a slice is judged.
  let bytes = bytesPerRow.seen;
  for (let waiting = await countRows(database, files); waiting.length > 0; ) {
    const maxRows = roomBytes / bytes;
    const slice = takeSlice(await places.locate(waiting, maxRows), maxRows);
    const files = namesOf(slice);
    const verdict = await retryWithMoreMemory(database, () => judgeSlice(database, sql, files));
    if (verdict.moved > 0) {
      places.lose();
      continue;
    }
    if (verdict.unrecognised > 0) {
      await loadAgain(await listUnrecognised(database, sql, files));
      continue;
    }
    const written = writeBytes(spec, verdict);
    bytes = Math.max(bytesPerRow.seen, written / Math.max(1, sumRows(slice)));
    // Judged again with fewer files.
    if (slice.length > 1 && written > roomBytes) continue;
    await places.follow(slice, verdict, () =>
      retryWithMoreMemory(database, () =>
        database.transaction(() => applyVerdict(database, sql, files, verdict)),
      ),
    );
    await noteReplaced(database, sql, verdict, waiting.length);
    for (const name of Object.keys(total) as (keyof MergeCounts)[]) total[name] += verdict[name];
    waiting = waiting.slice(slice.length);
  }
  if (sql.texts !== null && total.changed + total.amended > 0) await database.run(sql.texts.forgetReplaced);
  return total;
}

/** Staging files of a slice with rows that were taken for known, and are not what their text made of them any more. */
async function listUnrecognised(
  database: Database,
  { texts }: ReturnType<typeof mergeSql>,
  files: readonly string[],
): Promise<string[]> {
  const rows = await database.rows<{ filename: string }>(texts?.unrecognised ?? '', { files });
  return rows.map(({ filename }) => filename);
}

/** @param left files that were left: fewer with each slice */
async function noteReplaced(
  database: Database,
  { texts }: ReturnType<typeof mergeSql>,
  { changed, amended }: MergeCounts,
  left: number,
): Promise<void> {
  if (texts !== null && changed + amended > 0) await database.run(texts.note, { slice: -left });
}

/** Memory that writing a slice's new rows and versions takes. */
function writeBytes({ history }: TableSpec, { inserted, changed, amended }: MergeCounts): number {
  const past = history ? changed * bytesPerRow.past : 0;
  return inserted * bytesPerRow.inserted + (changed + amended) * bytesPerRow.changed + past;
}

type Verdict = MergeCounts & Record<'mixed' | 'moved' | 'unplaced' | 'unrecognised' | 'read', number>;

/** Makes `recognised`, `seen`, `known` and `verdict` of a slice, and counts what they say. */
async function judgeSlice(
  database: Database,
  sql: ReturnType<typeof mergeSql>,
  files: readonly string[],
): Promise<Verdict> {
  if (sql.recognised !== null) await database.run(sql.recognised, { files });
  await database.run(sql.seen, { files });
  await database.run(sql.known);
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
    moved: count('moved'),
    unplaced: count('unplaced'),
    unrecognised: count('unrecognised'),
    read: count('read'),
  };
  return { seen, inserted, changed, amended, confirmed, stale: seen - fresh, late: 0, gone: 0, ...rest };
}

async function applyVerdict(
  database: Database,
  sql: ReturnType<typeof mergeSql>,
  files: readonly string[],
  { inserted, changed, amended, confirmed, mixed, unplaced, read }: Verdict,
): Promise<void> {
  if (confirmed > 0) for (const statement of sql.confirm) await database.run(statement);
  if (unplaced > 0) await database.run(sql.placeRows);
  // New versions first: they are made from the old ones, which still stand under their row numbers.
  if (changed + amended + mixed > 0) await database.run(sql.oldRows);
  if (changed > 0 && sql.keepPast !== null) await database.run(sql.keepPast);
  if (inserted > 0) await database.run(sql.insertNew, { files });
  if (changed + amended > 0) await database.run(sql.insertChanged, { files });
  if (mixed > 0) await database.run(sql.insertMixed, { files });
  if (changed + amended > 0) await database.run(sql.deleteOld);
  // With the rows: a digest says that its row is there.
  if (sql.texts !== null && read > 0) {
    await database.run(sql.texts.forget);
    await database.run(sql.texts.add);
  }
}

/** How many rows a slice writes. */
type Written = Record<'inserted' | 'changed' | 'amended', number>;

/**
 * Where the rows of a table stand that staging files have keys of: `place`, looked up for many slices at once, because
 * that reads all the table's keys, and kept true while slices are applied (docs/adr/0001).
 */
export interface Places {
  /** The first of the files that are located; where none is left, makes `place` of the next, for `leastRows` at least. */
  locate(waiting: readonly StagedFile[], leastRows: number): Promise<readonly StagedFile[]>;
  /** Applies a slice of the located files by `work`, and checkpoints. */
  follow(slice: readonly StagedFile[], verdict: Written, work: () => Promise<void>): Promise<void>;
  /**
   * Rows of a slice are not where they were: a checkpoint removes row groups that have no row left, and gives those behind
   * them other numbers. They are located again. @throws where they were located just now
   */
  lose(): void;
}

export function createPlaces(database: Database, sql: MergeSql): Places {
  const most = database.memoryBytes / bytesPerPlace;
  let located: readonly StagedFile[] = [];
  let isFresh = false;
  // Rows that are looked up at once.
  let ahead = most;
  return {
    async locate(waiting, leastRows) {
      isFresh = located.length === 0;
      if (!isFresh) return located;
      const rows = Math.max(ahead, leastRows);
      const files = takeSlice(waiting, rows);
      await retryWithMoreMemory(database, () => database.run(sql.place, { files: namesOf(files) }));
      located = files;
      ahead = Math.min(most, rows * 2);
      return located;
    },
    async follow(slice, { inserted, changed, amended }, work) {
      located = located.slice(slice.length);
      const replaces = changed + amended > 0;
      const isKept = located.length > 0 && (inserted > 0 || replaces);
      const [end] = isKept ? await database.rows<{ row: bigint }>(sql.end) : [];
      await work();
      // Before the checkpoint, which may give rows other numbers: their places are then wrong, and seen to be, not missing.
      if (isKept && replaces) await database.run(sql.forgetOld);
      if (isKept) await database.run(sql.addPlaces, { end: end?.row ?? 0n });
      await retryWithMoreMemory(database, () => database.run('checkpoint'));
    },
    lose() {
      if (isFresh) throw new Error('rows are not where they were found a moment ago');
      located = [];
      // Where one slice emptied row groups the next may too: for few at first.
      ahead = 0;
    },
  };
}
