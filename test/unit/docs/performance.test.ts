import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isMet, listBars } from '../../../bench/bars.ts';
import type { BenchResult, Sample } from '../../../bench/results.ts';
import { renderNights, renderTables } from '../../../bench/tables.ts';
import { readText, root } from '../../support/documents.ts';

const sample = (seconds: number): Sample => ({
  ...{ seconds, cpuSeconds: seconds, peakMb: 100, rows: 1000, requests: 1, receivedMb: 2, diskMb: 1 },
});

/** A case of contestants that took these seconds in three rounds. */
const played = (floor: string, seconds: Record<string, [number, number, number]>) => ({
  title: 'A case',
  floor,
  contestants: Object.fromEntries(
    Object.entries(seconds).map(([name, all]) => [
      name,
      { name: `ledgerlake ${name}`, samples: all.map(sample) },
    ]),
  ),
});

test.each([
  { page: 'docs/performance.md', kept: 'quoted.json', render: renderTables },
  { page: 'docs/what-a-night-costs.md', kept: 'nights.json', render: renderNights },
])('the figures of $page are those of the run that is kept', ({ page, kept, render }) => {
  const [, figures] = /<!-- generated: figures -->\n([\s\S]*)\n<!-- end -->/.exec(readText(page))!;
  const file = join(root, 'bench/results', kept);
  expect(figures).toBe(render(JSON.parse(readFileSync(file, 'utf8')) as BenchResult));
});

test('bars are ratios of medians, and a night is told for a million rows without its HTTP', () => {
  const bars = listBars({
    ...{ date: '', command: '', machine: '', options: { warehouse: 10_000_000, next: 500_000 } },
    cases: {
      assets: played('parse', { parse: [1, 2, 90], run: [4, 4, 1], peer: [6, 4, 4] }),
      warehouse: played('empty', {
        empty: [8, 8, 8],
        next: [16, 10, 10],
        http: [1, 1, 1],
        night: [21, 22, 21],
      }),
      start: played('node', { node: [1, 1, 1], version: [3, 3, 3] }),
    },
  });
  expect(bars.map((bar) => [bar.measured, bar.limit, isMet(bar)])).toEqual([
    [0.5, 0.45, true],
    [1, 1.2, false],
    [0.8, 0.8, true],
    [40, 40, true],
    [3, 3, true],
    [100, 512, true],
  ]);
});
