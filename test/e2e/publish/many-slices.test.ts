import { expect, test } from 'vitest';
import { createLandingLog } from '../../../src/landing/writer.ts';
import { publish } from '../../../src/publish/publish.ts';
import { defaultThresholds } from '../../../src/thresholds.ts';
import { openBuild } from '../../../src/warehouse/build.ts';
import type { Database } from '../../../src/warehouse/database.ts';
import { newRecords } from '../../support/pages.ts';
import { loadLanded, makeFolder } from '../../support/publish-landed.ts';

// Where rows stand is looked up once for many slices. These nights write rows again that a later slice has too, and leave
// row groups without a row, whose removal gives the rows behind them other numbers.
const count = 300;
const idOf = (n: number) => `${'A'.repeat(39)}${String(1000 + n).replaceAll('0', 'x')}`;

async function openNights() {
  const folder = await makeFolder();
  const options = { memoryLimit: '256MB', threads: 1, tempDir: folder.temp };

  /** A night of several pages, each in a segment and a slice of its own: what every page says of every asset. */
  const night = async (run: string, slot: number, pages: readonly ((n: number) => object | null)[]) => {
    for (const [page, say] of pages.entries()) {
      const landing = createLandingLog({ dir: folder.landing });
      const assets = Array.from({ length: 2 * count }, (_, n) => ({ id: idOf(n), own: say(n) }));
      const records = assets.flatMap(({ id, own }) => (own === null ? [] : [JSON.stringify({ id, ...own })]));
      await landing.appendPage(
        {
          ...{ task: 'all', crawl: run, run, job: 'all', target: '', params: {}, carries: [], nulls: 0 },
          ...{ operation: 'getAssetsByGroup', shape: 'asset', position: { limit: count }, envelope: '{}' },
          ...{ page: page + 1, slot: slot + page, last_slot: null, next: null },
          end: page === pages.length - 1 ? ('exhausted' as const) : null,
          received_at: new Date(Date.UTC(2026, 0, slot, page)).toISOString(),
        },
        newRecords(...records),
      );
      await landing.close();
    }
    await loadLanded(folder);
    const build = await openBuild(folder, options);
    try {
      // Room for the places of all rows, and for a slice of one file.
      const cramped: Database = {
        ...build,
        memoryBytes: 200_000,
        withMemory: (_, work) => work(),
      };
      const { tables } = await publish(cramped, folder, {
        run,
        quarantineLimit: 0.01,
        // Its nights change every row to one value, which a ledger does not.
        guards: { ...defaultThresholds, rows: 1_000_000 },
      });
      const rows = await build.rows<{ id: string; interface: string; slot: bigint }>(
        'select id, interface, slot from assets order by id',
      );
      const past = await build.rows<{ n: bigint }>('select count(*) as n from past.assets');
      return { counts: tables.assets, rows, past: Number(past[0]?.n) };
    } finally {
      build.close();
    }
  };
  return { night };
}

const isOld = (n: number) => n < count;
const old = (text: string) => (n: number) => (isOld(n) ? { interface: text } : null);
const fresh = (text: string) => (n: number) => (isOld(n) ? null : { interface: text });

const expected = (text: (n: number) => string, slot: (n: number) => number, length = count) =>
  Array.from({ length }, (_, n) => ({
    id: idOf(n),
    interface: text(n),
    slot: BigInt(slot(n)),
  })).sort((a, b) => (a.id < b.id ? -1 : 1));

test('what one slice of a publish writes, the next ones find', async () => {
  const { night } = await openNights();
  const first = await night('r1', 10, [
    (n) => (n < 200 ? { interface: 'a' } : null),
    (n) => (n >= 100 && n < count ? { interface: 'b' } : null),
    (n) => (n % 2 === 0 && n < count ? { interface: 'c' } : null),
  ]);
  const odd = (n: number) => (n < 100 ? 'a' : 'b');
  const text = (n: number) => (n % 2 === 0 ? 'c' : odd(n));
  expect(first.rows).toEqual(expected(text, (n) => (n % 2 === 0 ? 12 : n < 100 ? 10 : 11)));
  expect(first.counts).toMatchObject({ seen: 550, inserted: count, stale: 0 });

  // All rows change twice: after the first slice nothing is left of the row groups that there were.
  const second = await night('r2', 20, [
    old('d'),
    old('e'),
    (n) => (isOld(n) ? { interface: n % 3 === 0 ? 'e' : 'f' } : null),
  ]);
  expect(second.rows).toEqual(
    expected(
      (n) => (n % 3 === 0 ? 'e' : 'f'),
      () => 22,
    ),
  );
  expect(second.counts).toMatchObject({
    seen: 3 * count,
    inserted: 0,
    stale: 0,
    confirmed: 100,
    changed: 800,
  });
  expect(second.past).toBe(first.past + 800);
});

test('rows that move up leave their numbers to new ones, which are written again before the old ones come once more', async () => {
  const { night } = await openNights();
  await night('r1', 10, [old('a')]);
  const { rows, counts } = await night('r2', 20, [old('b'), fresh('new'), fresh('newer'), old('c')]);
  expect(rows).toEqual(
    expected(
      (n) => (isOld(n) ? 'c' : 'newer'),
      (n) => (isOld(n) ? 23 : 22),
      2 * count,
    ),
  );
  expect(counts).toMatchObject({ seen: 4 * count, inserted: count, changed: 3 * count, stale: 0 });
});
