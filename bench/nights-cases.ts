// Nights over the same assets: the first, one in which nothing changed, one in which one asset in a hundred did.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, type BenchCase, quiet, sizeOf, sumRecords, type Turn, warm } from './contestants.ts';
import { openPlace, type Place } from './place.ts';
import type { Target } from './records.ts';

/** What stays of a night; the lake has as many copies of the tables as are kept (`lake.keep`). */
const parts = ['archive', 'build.duckdb', 'warehouse.duckdb'] as const;

function sizesOf(data: string | null): Record<(typeof parts)[number], number> {
  return Object.fromEntries(
    parts.map((part) => [part, data === null ? 0 : sizeOf(join(data, part))]),
  ) as never;
}

/** Each round is a folder of its own, and its nights follow each other. */
export function nightsCase(bench: Bench, targets: readonly Target[]): BenchCase {
  const { url, dir } = bench;
  const rows = sumRecords(targets);
  let place: Place;
  const night = async (path: string | null): Promise<Turn> => {
    if (path !== null) await fetch(`${url}${path}`);
    // The server makes changed pages before they are timed.
    await warm(bench, targets);
    const before = sizesOf(path === null ? null : place.data);
    const measured = await place.cli('run', 'all', ...quiet);
    const after = sizesOf(place.data);
    const grown = Object.fromEntries(parts.map((part) => [part, after[part] - before[part]]));
    return { ...measured, rows, grown, leftBytes: grown.archive! };
  };
  return {
    title: `Nights over ${rows.toLocaleString('en-US')} assets of 2 KB; left: what the archive grew by`,
    floor: 'first',
    inOrder: true,
    prepare: async () => {},
    contestants: {
      first: {
        name: 'the first night',
        async turn(round) {
          mkdirSync(join(dir, `nights-${round}`));
          place = openPlace(join(dir, `nights-${round}`), url, { lake: false });
          place.addJob('all', targets);
          return night(null);
        },
      },
      second: { name: 'a night in which nothing changed', turn: () => night('/_bench/night') },
      changed: {
        name: 'a night with 1 % changed',
        async turn() {
          const turn = await night('/_bench/night?changed');
          place.remove();
          return turn;
        },
      },
    },
  };
}
