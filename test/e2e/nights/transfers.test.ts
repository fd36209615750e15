import { expect, test } from 'vitest';
import { type Installation, openInstallation } from '../../support/nights.ts';
import { compareTables } from '../../support/rows.ts';
import type { Call } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const jobs = {
  'jobs/transfers.yaml': `describe: test\nmethod: walletTransfers\npage_size: 4\nfor_each: {wallet: {values: [${key('Who')}]}}\n`,
};
const withHistory = {
  ...jobs,
  'jobs/history.yaml': `describe: test\nmethod: walletHistory\nfor_each: {wallet: {values: [${key('Who')}]}}\n`,
};
const transfer = (signature: string, amount: number) => ({
  ...{
    signature: signature.padEnd(88, '1'),
    timestamp: 1_767_225_600,
    direction: 'in',
    counterparty: key('Bob'),
  },
  ...{ mint: key('Mint'), amount, amountRaw: `${amount}`, decimals: 0 },
});

test('a transfer that arrives between two pages makes no second row of the one at their border', async () => {
  const place = await openInstallation(jobs);
  const list = ['Da', 'Ca', 'Cb', 'Cc', 'Cd', 'Ce', 'Ba'].map((name) =>
    transfer(name[0]!, name.charCodeAt(1)),
  );
  let pages = 0;
  const night = await place.night((call: Call) => {
    pages += 1;
    const now = pages === 1 ? list : [transfer('E', 1), ...list];
    return answerList(call, now, { slot: null, pageSize: 4 });
  });
  expect(night.code).toBe(0);
  const rows = await place.rows(
    "select rtrim(signature, '1') as signature, position, amount_raw from wallet_transfers order by all",
  );
  expect(rows).toEqual([
    { signature: 'B', position: 0, amount_raw: '97' },
    ...[97, 98, 99, 100, 101].map((amount, position) => ({
      signature: 'C',
      position,
      amount_raw: `${amount}`,
    })),
    { signature: 'D', position: 0, amount_raw: '97' },
  ]);
});

const amounts = async (place: Installation) => {
  const rows = await place.rows<{ signature: string; amounts: string }>(
    `select rtrim(signature, '1') as signature, string_agg(amount_raw, ' ' order by position) as amounts
    from wallet_transfers group by all order by all`,
  );
  return rows.map(({ signature, amounts }) => `${signature}: ${amounts}`);
};

test('the transfers of a signature are those of one answer: one that is indexed late replaces them, one that is missing, or a value, does not; a full refresh does', async () => {
  const place = await openInstallation(withHistory);
  const list = (late: readonly number[], cut: readonly number[]) =>
    Object.entries({ Late: late, Cut: cut, Base: [7, 8] }).flatMap(([name, all], n) =>
      all.map((amount) => ({ ...transfer(name, amount), timestamp: 1_767_225_600 - n * 10_000 })),
    );
  const history = (fee: number) => [
    {
      signature: 'Fee'.padEnd(88, '1'),
      timestamp: 1_767_225_600,
      slot: 7,
      fee,
      feePayer: key('Who'),
      error: null,
    },
  ];
  const fees = () => place.rows('select fee from wallet_transactions');
  const night = async (records: unknown[], fullRefresh = false, fee = 5) => {
    // Equal transfers that meet at a border count as one.
    const script = (call: Call) =>
      call.operation === 'walletHistory'
        ? answerList(call, history(fee), { slot: null })
        : answerList(call, records, { slot: null, pageSize: fullRefresh ? 20 : 4 });
    const options = fullRefresh ? { fullRefresh, jobs: ['transfers', 'history'] } : {};
    expect((await place.night(script, options)).code).toBe(0);
    return amounts(place);
  };
  const base = 'Base: 7 8';
  expect(await night(list([1, 2], [4]))).toEqual([base, 'Cut: 4', 'Late: 1 2']);
  // The only page of the night ends with `Cut`, of which the next may have more.
  expect(await night(list([1, 2], [9, 4]))).toEqual([base, 'Cut: 4', 'Late: 1 2']);
  // Over a border of two pages.
  expect(await night(list([3, 1, 2], [9, 4]))).toEqual([base, 'Cut: 9 4', 'Late: 3 1 2']);
  expect(await night(list([3, 5, 1, 2, 6], [9, 4]))).toEqual([base, 'Cut: 9 4', 'Late: 3 5 1 2 6']);
  expect(await night(list([3, 1, 2], [9, 4]))).toEqual([base, 'Cut: 9 4', 'Late: 3 5 1 2 6']);
  const shown = list([3, 5, 1, 2, 6], [9, 4]);
  const zeros = shown.map((one) => ({ ...one, amount: 0, amountRaw: '0' }));
  expect(await night(zeros, true, 0)).toEqual(['Base: 0 0', 'Cut: 0 0', 'Late: 0 0 0 0 0']);
  expect(await fees()).toEqual([{ fee: 0 }]);
  expect(await night(shown, true)).toEqual([base, 'Cut: 9 4', 'Late: 3 5 1 2 6']);
  expect(await fees()).toEqual([{ fee: 5 }]);
  // Nothing but a full refresh overwrites a value.
  await night(zeros, false, 0);
  expect([await amounts(place), await fees()]).toEqual([[base, 'Cut: 9 4', 'Late: 3 5 1 2 6'], [{ fee: 5 }]]);
  const tables = await place.tables();
  expect(await place.rebuild()).toBe(0);
  expect(compareTables(await place.tables(), tables)).toEqual([]);
});
