import { describe, expect, test } from 'vitest';
import { daily } from '../../levels.ts';
import { type Installation, openInstallation } from '../../support/nights.ts';
import { compareTables } from '../../support/rows.ts';
import type { Call, Script } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const jobs = {
  'jobs/tokens.yaml': `describe: test\nmethod: getTokenAccounts\nfor_each: {owner: {values: [${key('Who')}]}}\n`,
};
const names = ['Ann', 'Bea', 'Cid', 'Dan', 'Eve', 'Fay'];

interface Ledger {
  /** Slot of the nth answer of the night (from 1); undefined: it says none. */
  slotOf: (nth: number) => number | undefined;
  amount: number;
  /** Members of a record besides. */
  more?: (name: string) => object;
}

/** A list of six accounts on three pages. */
function ledger({ slotOf, amount, more = () => ({}) }: Ledger): Script {
  let answers = 0;
  return (call: Call) => {
    answers += 1;
    const accounts = names.map((name) => ({
      ...{ address: key(name), mint: key('Mint'), owner: key('Who'), amount, ...more(name) },
    }));
    return answerList(call, accounts, { slot: slotOf(answers) ?? null, pageSize: 2 });
  };
}

const at = (slot: number, amount: number) => ledger({ slotOf: () => slot, amount });

/** Plays nights in one installation. */
async function play(...nights: readonly Script[]): Promise<Installation> {
  const place = await openInstallation(jobs);
  for (const script of nights) expect((await place.night(script)).report?.exitCode).toBe(0);
  return place;
}

describe('a slot far ahead', () => {
  test('in one answer: asked again, and the other answer counts', async () => {
    const place = await play(at(1000, 1));
    const night = await place.night(ledger({ slotOf: (nth) => (nth === 2 ? 5_001_000 : 2000), amount: 2 }));
    expect(night.report?.exitCode).toBe(0);
    expect(night.calls.length).toBe(5);
    const other = await play(at(1000, 1), at(2000, 2));
    expect(compareTables(await place.tables(), await other.tables())).toEqual([]);
  });

  test('in all answers of a night: the target fails and says what lets it pass; the next night is as if it had not been', async () => {
    const place = await play(at(1000, 1));
    const night = await place.night(at(5_001_000, 2));
    expect(night.code).toBe(3);
    expect(night.calls.length).toBe(3);
    const [failed] = await place.rows<{ reason: string }>(
      "select reason from meta.checkpoints where state = 'failed'",
    );
    expect(failed?.reason).toMatch(/if that is right: ledgerlake run --accept r[0-9a-f]{8}$/);
    expect((await place.night(at(3000, 3))).code).toBe(0);
    const other = await play(at(1000, 1), at(3000, 3));
    expect(compareTables(await place.tables(), await other.tables())).toEqual([]);
  });

  test('accepted, it passes with what the ledger has made since, in a rebuild too, and no slot above that', async () => {
    const place = await play(at(1000, 1));
    const ids = 'select id from meta.held';
    await place.night(at(5_001_000, 2));
    const [first] = await place.rows<{ id: string }>(ids);
    expect((await place.night(at(9_001_000, 2))).code).toBe(3);
    const [second] = await place.rows<{ id: string }>(ids);
    expect((await place.night(at(9_001_000, 2), { accept: [first!.id] })).error?.hint).toContain(second!.id);
    expect((await place.night(at(20_001_000, 2), { accept: [second!.id], hoursLater: 1 })).code).toBe(3);
    expect((await place.night(at(9_011_000, 2), { accept: [second!.id], hoursLater: 1 })).code).toBe(0);
    expect(await place.rows('select distinct slot, amount from token_accounts')).toEqual([
      { slot: '9011000', amount: '2' },
    ]);
    const accepted = await place.tables();
    expect(await place.rebuild()).toBe(0);
    expect(compareTables(await place.tables(), accepted)).toEqual([]);
  });

  test("inside a record: it has its page's slot instead, and is in quarantine", async () => {
    const isAhead = (name: string) => (name === 'Bea' ? { last_indexed_slot: 5_001_000 } : {});
    const place = await play(
      at(1000, 1),
      ledger({ slotOf: () => 2000, amount: 2, more: isAhead }),
      at(3000, 3),
    );
    expect(await place.rows('select distinct slot, amount from token_accounts')).toEqual([
      { slot: '3000', amount: '3' },
    ]);
    const other = await play(at(1000, 1), at(2000, 2), at(3000, 3));
    const rows =
      'select address, amount, valid_from_slot, valid_to_slot from token_accounts_history order by all';
    expect(await place.rows(rows)).toEqual(await other.rows(rows));
  });
});

describe('pages without a slot, where the source has slots', () => {
  const history =
    'select address, amount, slot, first_seen_slot, valid_from_slot, valid_to_slot from token_accounts_history order by all';
  const without = (slot: number, pages: readonly number[], amount: number) =>
    ledger({ slotOf: (nth) => (pages.includes(nth) ? undefined : slot), amount });

  test.each([
    ['the first page', [1]],
    ['a later page', [2]],
    ['all pages', [1, 2, 3, 4]],
  ])('%s: versions begin and end at slots, in a rebuild too', async (_, pages) => {
    const place = await play(at(1000, 1), without(2000, pages, 2), at(3000, 3));
    const standIn = pages.length === 4 ? 1000 : 2000;
    const open = await place.rows(
      `${history.replace('order by all', 'where valid_to_slot is null order by all')}`,
    );
    expect(open.length).toBe(names.length);
    const at3000 = 'select distinct amount, valid_from_slot from token_accounts_at_slot(3000)';
    expect(await place.rows(at3000)).toEqual([{ amount: '3', valid_from_slot: '3000' }]);
    if (standIn === 2000) {
      const other = await play(at(1000, 1), at(2000, 2), at(3000, 3));
      expect(await place.rows(history)).toEqual(await other.rows(history));
      const at2000 = 'select distinct amount, valid_from_slot from token_accounts_at_slot(2000)';
      expect(await place.rows(at2000)).toEqual([{ amount: '2', valid_from_slot: '2000' }]);
    }
    const tables = await place.tables();
    expect(await place.rebuild()).toBe(0);
    expect(compareTables(await place.tables(), tables)).toEqual([]);
  });

  daily('of the first night: the next one that says slots gives them', async () => {
    const place = await play(without(1000, [1, 2, 3, 4], 1), at(2000, 1), at(3000, 2));
    expect(await place.rows(history)).toEqual(
      names.flatMap((name) => [
        {
          address: key(name),
          amount: '1',
          slot: '2000',
          first_seen_slot: '2000',
          valid_from_slot: '2000',
          valid_to_slot: '3000',
        },
        {
          address: key(name),
          amount: '2',
          slot: '3000',
          first_seen_slot: '2000',
          valid_from_slot: '3000',
          valid_to_slot: null,
        },
      ]),
    );
  });
});
