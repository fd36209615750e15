import { expect, test } from 'vitest';
import { firstOf } from '../levels.ts';
import { type Installation, type KeptInstallation, openInstallation } from '../support/nights.ts';
import { compareTables, type TableRows } from '../support/rows.ts';
import type { Call, Script } from '../support/scripted-api.ts';
import { answerList } from '../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const owners = ['Ann', 'Bea', 'Cat', 'Dan', 'Eve', 'Fay'].map(key);

const jobs = {
  'jobs/tokens.yaml': `describe: test
method: getTokenAccounts
for_each: {owner: {values: [${owners.join(', ')}]}}
`,
};

type Account = Record<string, unknown>;

/** Every owner's accounts at a slot, each as `change` makes it; null: the list is without it. */
const ledger =
  (
    slot: number,
    each: number,
    change: (account: Account, n: number) => Account | null = (account) => account,
  ): Script =>
  (call: Call) => {
    const { owner } = call.params;
    const accounts = Array.from({ length: each }, (_, n) => ({
      ...{
        address: key(`${String(owner).slice(0, 3)}${String(n).replaceAll('0', 'z')}x`),
        mint: key('Mint'),
        owner,
        amount: n + 1,
      },
    }));
    const listed = accounts.flatMap((account, n) => change(account, n) ?? []);
    return answerList(call, listed, { slot, pageSize: 1000 });
  };

const rename = ({ amount, ...rest }: Account) => ({ ...rest, tokenAmount: amount });

interface WrongNight {
  what: string;
  each: number;
  wrong: (account: Account, n: number) => Account | null;
  refused: object[];
}

const allWrongNights: WrongNight[] = [
  {
    what: 'all lists empty, few rows',
    ...{ each: 5, wrong: () => null },
    refused: [{ guard: 'vanished', rows: 30, total: 30, targets: 6 }],
  },
  {
    what: 'all lists empty, each below the mass-delete guard of a target',
    ...{ each: 48, wrong: () => null },
    refused: [{ guard: 'vanished', rows: 288, total: 288 }],
  },
  {
    what: 'amount renamed, few rows',
    ...{ each: 5, wrong: rename },
    refused: [{ guard: 'blank', column: 'amount', rows: 30, total: 30 }],
  },
  {
    what: 'amount renamed, many rows',
    ...{ each: 400, wrong: rename },
    refused: [{ guard: 'blank', column: 'amount', rows: 2400, total: 2400 }],
  },
  {
    what: 'every amount 0',
    ...{ each: 48, wrong: (account) => ({ ...account, amount: 0 }) },
    refused: [{ guard: 'collapse', column: 'amount', rows: 288, total: 288 }],
  },
  {
    what: 'every amount a word',
    ...{ each: 5, wrong: (account) => ({ ...account, amount: 'many' }) },
    refused: [{ guard: 'blank' }, { guard: 'quarantined', rows: 30, total: 30, examples: ['many'] }],
  },
  {
    what: 'every mint wrapped',
    ...{ each: 5, wrong: ({ mint, ...rest }) => ({ ...rest, mint: { address: mint } }) },
    refused: [
      { guard: 'blank', column: 'mint' },
      { guard: 'quarantined', rows: 30, total: 30 },
    ],
  },
  {
    what: 'no address',
    ...{ each: 48, wrong: (account) => ({ ...account, address: null }) },
    refused: [{ guard: 'quarantined', rows: 288, total: 288 }],
  },
];
const wrongNights = firstOf(3, allWrongNights);

const firstNights = new Map<number, Promise<KeptInstallation>>();
const rightTables = new Map<number, Promise<TableRows>>();

/** An installation after one right night. */
async function openSecondNight(each: number): Promise<Installation> {
  const first = async () => {
    const place = await openInstallation(jobs);
    expect((await place.night(ledger(100, each))).code).toBe(0);
    return place.keep();
  };
  if (!firstNights.has(each)) firstNights.set(each, first());
  return openInstallation(jobs, await firstNights.get(each)!);
}

/** The tables of an installation that never saw a wrong night. */
function readRightTables(each: number): Promise<TableRows> {
  const read = async () => {
    const place = await openSecondNight(each);
    await place.night(ledger(300, each));
    return place.tables();
  };
  if (!rightTables.has(each)) rightTables.set(each, read());
  return rightTables.get(each)!;
}

test.for(wrongNights)('$what: refused, kept, and no trace of it after a right night', async (night) => {
  const { each, wrong, refused } = night;
  const one = await openSecondNight(each);
  const before = await one.tables();
  const { code, report } = await one.night(ledger(200, each, wrong));
  expect(code).toBe(4);
  expect(report?.published.refused).toMatchObject(refused);
  expect(compareTables(before, await one.tables())).toEqual([]);
  const twice =
    'from meta.held select task, guard, column_name where whole_job group by all having count(*) > 1';
  expect(await one.rows(twice)).toEqual([]);
  expect((await one.night(ledger(300, each))).code).toBe(0);

  const right = await readRightTables(each);
  expect(compareTables(right, await one.tables())).toEqual([]);
  expect(await one.rebuild()).toBe(0);
  expect(compareTables(right, await one.tables())).toEqual([]);
  expect(await one.rows('select * from meta.held')).toEqual([]);
});

test.for(firstOf(1, wrongNights))(
  '$what: accepted, it is published without a request, and again by a rebuild',
  async (night) => {
    const { each, wrong } = night;
    const one = await openSecondNight(each);
    await one.night(ledger(200, each, wrong));
    const accepted = await one.acceptAll();
    expect(accepted.refused).toEqual([]);
    const tables = await one.tables();
    expect(await one.rows('select distinct accepted_by is not null as accepted from meta.refusals')).toEqual([
      { accepted: true },
    ]);
    expect(await one.rebuild()).toBe(0);
    expect(compareTables(tables, await one.tables())).toEqual([]);
  },
);
