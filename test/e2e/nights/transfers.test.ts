import { expect, test } from 'vitest';
import { openInstallation } from '../../support/nights.ts';
import type { Call } from '../../support/scripted-api.ts';
import { answerList } from '../../support/scripted-list.ts';

const key = (name: string) => name.padEnd(43, '1');
const jobs = {
  'jobs/transfers.yaml': `describe: test\nmethod: walletTransfers\npage_size: 4\nfor_each: {wallet: {values: [${key('Who')}]}}\n`,
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
