import { expect, test } from 'vitest';
import { laterSlot, ledgerAt, listJobs, lists, pageSize, readCase } from '../support/list-ledger.ts';
import { openInstallation } from '../support/nights.ts';
import { compareTables } from '../support/rows.ts';
import type { Script } from '../support/scripted-api.ts';

/** Lists whose answers say a slot. */
const cases = lists.filter(({ isFeed, operation }) => !isFeed && operation.startsWith('get'));

/** The ledger as it is at a slot, by a service that goes on saying that it is at another. */
const stuckAt =
  (said: number, slot: number): Script =>
  (call) => {
    const text = JSON.stringify(ledgerAt(slot)(call));
    return JSON.parse(text.replaceAll(/("(?:last_indexed_slot|slot)":)\d+/g, `$1${said}`));
  };

test('a slot that is stuck while the content moves: every change comes in; where nothing moves, a page a target', async () => {
  const place = await openInstallation(listJobs(cases));
  await place.night(ledgerAt(1000));
  // Nothing has moved.
  const quiet = await place.night(ledgerAt(1000));
  // The run's first answer has no witness, so it is asked for again.
  expect(quiet.calls.length).toBe(cases.length * 2 + 1);
  expect(await place.rows("select distinct reason from meta.checkpoints where state = 'complete'")).toEqual([
    { reason: 'exhausted' },
  ]);
  const moved = await place.night(stuckAt(1000, laterSlot));
  expect(moved.code).toBe(0);
  expect(moved.calls.filter((call) => readCase(call).size === 'large').length).toBeGreaterThan(
    cases.length * 2,
  );
  expect(pageSize).toBeLessThan(120);

  const clean = await openInstallation(listJobs(cases));
  await clean.night(ledgerAt(laterSlot));
  const slots = /^(slot|\w+_slot)$/;
  const current = async (one: typeof place) =>
    Object.fromEntries(
      Object.entries(await one.tables(slots)).filter(([table]) => !table.endsWith('_history')),
    );
  expect(compareTables(await current(clean), await current(place))).toEqual([]);
  const before = await place.tables();
  expect(await place.rebuild()).toBe(0);
  expect(compareTables(before, await place.tables())).toEqual([]);
  // What a rebuild makes knows the first pages, too.
  expect((await place.night(stuckAt(1000, laterSlot))).calls.length).toBe(cases.length * 2 + 1);
});
