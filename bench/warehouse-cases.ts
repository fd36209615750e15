// Nights over a warehouse that is full, and its export.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  askBench,
  askLedgerlake,
  type Bench,
  type BenchCase,
  perTarget,
  quiet,
  script,
  sumRecords,
  targetsOf,
  warm,
} from './contestants.ts';
import { measureSelf } from './measure.ts';
import { openPlace, type Place } from './place.ts';
import type { Target } from './records.ts';

/** Most assets crawled at once while the warehouse is filled: the landing log of more would fill a small disk. */
const fillAtOnce = 1_000_000;

/** Nights over a warehouse that is full, and its export: both on the same folder. */
export function warehouseCases(
  bench: Bench,
  filled: readonly Target[],
): Record<'warehouse' | 'export', BenchCase> {
  const { options, url, dir } = bench;
  const night = filled.slice(0, Math.ceil(options.next / perTarget.asset));
  const rows = sumRecords(night);
  const fresh = (round: number) => targetsOf('asset', options.next, filled.length + round * night.length);
  let full: Place;
  const total = options.warehouse.toLocaleString('en-US');
  return {
    warehouse: {
      title: `${rows.toLocaleString('en-US')} assets a night, ${total} in the warehouse`,
      floor: 'empty',
      inOrder: true,
      async prepare() {
        mkdirSync(join(dir, 'full'));
        full = openPlace(join(dir, 'full'), url, { lake: false });
        const chunk = fillAtOnce / perTarget.asset;
        for (let from = 0; from < filled.length; from += chunk) {
          full.addJob(`fill-${from}`, filled.slice(from, from + chunk));
          await full.cli('run', `fill-${from}`, ...quiet);
        }
        full.addJob('night', night);
        await full.cli('run', 'night', ...quiet);
      },
      contestants: {
        // First: in the first round the night is one over what was filled, and nothing else.
        http: {
          name: 'HTTP only, of a night',
          async turn(_, into) {
            await warm(bench, night);
            return askBench(bench, 'http', night, into);
          },
        },
        night: {
          name: 'ledgerlake run, a night of unchanged assets',
          async turn() {
            await fetch(`${url}/_bench/night`);
            return { ...(await full.cli('run', 'night', ...quiet)), rows, left: full.data };
          },
        },
        empty: {
          name: 'ledgerlake run into an empty warehouse',
          async turn(round, into) {
            await warm(bench, fresh(round));
            return askLedgerlake(bench, into, ['run'], fresh(round));
          },
        },
        next: {
          name: 'ledgerlake run, the same assets, into the full one',
          async turn(round) {
            full.addJob(`next-${round}`, fresh(round));
            return { ...(await full.cli('run', `next-${round}`, ...quiet)), rows, left: full.data };
          },
        },
      },
    },
    export: {
      title: `Export of ${total} assets and more from the warehouse above`,
      floor: 'copy',
      prepare: async () => {},
      contestants: {
        copy: {
          name: "DuckDB's COPY, default settings",
          async turn(_, into) {
            const file = join(into, 'assets.parquet');
            const copy = [
              '--import',
              'tsx',
              script('copy.ts'),
              join(full.data, 'warehouse.duckdb'),
              'assets',
              file,
            ];
            return { ...(await measureSelf(copy)), rows: options.warehouse, left: file };
          },
        },
        export: {
          name: 'ledgerlake export assets',
          async turn() {
            const left = join(full.data, 'lake');
            rmSync(left, { recursive: true, force: true });
            return { ...(await full.cli('export', 'assets', ...quiet)), rows: options.warehouse, left };
          },
        },
      },
      finish: () => full.remove(),
    },
  };
}
