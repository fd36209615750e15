import type { Database } from './database.ts';
import { withRoom } from './memory.ts';
import type { MergeSql } from './merge-sql.ts';
import type { MergeCounts } from './merge-table.ts';
import { namesOf, type StagedFile, takeSlice } from './slices.ts';

/** Memory to plan for a row whose place is looked up, bytes: two numbers, held twice. */
const bytesPerPlace = 100;

/**
 * Where the rows of a table stand that staging files have keys of: `place`, looked up for many slices at once, because
 * that reads all the table's keys, and kept true while slices are applied (docs/adr/0001).
 */
export interface Places {
  /** The first of the files that are located; where none is left, makes `place` of the next, for `leastRows` at least. */
  locate(waiting: readonly StagedFile[], leastRows: number): Promise<readonly StagedFile[]>;
  /** Applies a slice of the located files by `work`, and checkpoints; what that moved is located again. */
  follow(slice: readonly StagedFile[], verdict: MergeCounts, work: () => Promise<void>): Promise<void>;
  /** Rows are not where they were: they are located again. @throws where they were located just now */
  lose(): void;
}

export function createPlaces(database: Database, sql: MergeSql): Places {
  let located: readonly StagedFile[] = [];
  let isFresh = false;
  let ahead = database.memoryBytes / bytesPerPlace;
  const readEnd = async () => (await database.rows<{ row: bigint }>(sql.end))[0]?.row ?? 0n;
  const lose = () => {
    located = [];
    // Where one slice empties row groups the next does too: looked up for all of them each time, it would take longer.
    ahead = 0;
  };
  return {
    async locate(waiting, leastRows) {
      isFresh = located.length === 0;
      if (!isFresh) return located;
      const files = takeSlice(waiting, Math.max(ahead, leastRows));
      await withRoom(database, () => database.run(sql.place, { files: namesOf(files) }));
      located = files;
      return located;
    },
    async follow(slice, { inserted, changed, amended }, work) {
      located = located.slice(slice.length);
      const replaces = changed + amended > 0;
      const isKept = located.length > 0 && (inserted > 0 || replaces);
      const end = isKept ? await readEnd() : 0n;
      await work();
      if (isKept && replaces) await database.run(sql.forgetOld);
      if (isKept) await database.run(sql.addPlaces, { end });
      const grown = isKept && replaces ? await readEnd() : 0n;
      await withRoom(database, () => database.run('checkpoint'));
      // A checkpoint removes row groups that have no row left, and gives those behind them other numbers.
      if (isKept && replaces && (await readEnd()) < grown) lose();
    },
    lose() {
      if (isFresh) throw new Error('rows are not where they were found a moment ago');
      lose();
    },
  };
}
