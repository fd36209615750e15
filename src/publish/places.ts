import type { Database } from '../warehouse/database.ts';
import { bytesPerPlace, retryWithMoreMemory } from '../warehouse/memory.ts';
import type { MergeSql } from './merge-sql.ts';
import { namesOf, type StagedFile, takeSlice } from './slices.ts';

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
