import { expect, test } from 'vitest';
import { openScripted } from '../support/workplace.ts';

const key = (name: string) => `${name}${'1'.repeat(43 - name.length)}`;
const signature = (name: string) => `${name}${'1'.repeat(88 - name.length)}`;
const wallet = key('Purse');

const walletJobs = {
  'jobs/transfers.yaml': `describe: test\nmethod: walletTransfers\nfor_each: {wallet: {values: [${wallet}]}}\n`,
  'jobs/history.yaml': `describe: test\nmethod: walletHistory\nfor_each: {wallet: {values: [${wallet}]}}\n`,
};

test('a later answer fills what a row of an append-only table leaves NULL, and overwrites no value', async () => {
  let night = 0;
  const transfer = {
    signature: signature('T'),
    direction: 'in',
    mint: key('Mint'),
    amount: 1.5,
    decimals: 9,
  };
  const change = { mint: key('Mint'), amount: -2, decimals: 9 };
  const entry = { signature: signature('H'), slot: 100, fee: 0.5, feePayer: wallet, error: null };
  const more = { timestamp: 1_700_000_000, counterparty: key('Bob'), amountRaw: '18446744073709551615' };
  const transfers = [
    { ...transfer, timestamp: null, counterparty: '' },
    { ...transfer, timestamp: null, amountRaw: more.amountRaw },
    { ...transfer, ...more, direction: 'out', amount: 9, isNew: true },
    { ...transfer, ...more, counterparty: key('Eve'), timestamp: 1_800_000_000, amountRaw: '7' },
  ];
  const histories = [
    { ...entry, timestamp: null, balanceChanges: [] },
    { ...entry, timestamp: 1_700_000_000, balanceChanges: [] },
    { ...entry, timestamp: 1_800_000_000, fee: 7, balanceChanges: [change] },
    { ...entry, timestamp: null, balanceChanges: [] },
  ];
  const place = await openScripted((operation) => {
    const data = [(operation === 'walletTransfers' ? transfers : histories)[night]];
    return JSON.stringify({ data, pagination: { hasMore: false, nextCursor: null } });
  }, walletJobs);
  const rows = async () => ({
    transfers: await place.rows('select * exclude (seen_at) from wallet_transfers'),
    history: await place.rows('select * exclude (seen_at) from wallet_transactions'),
    hashes: await place.rows(
      'select record_hash from wallet_transfers union all select record_hash from wallet_transactions',
    ),
  });
  const counts: unknown[] = [];
  const runs: string[] = [];
  const seen: Awaited<ReturnType<typeof rows>>[] = [];
  for (night = 0; night < 4; night += 1) {
    const { run, published } = await place.mustRun();
    runs.push(run);
    const { wallet_transfers: t, wallet_transactions: h } = published.tables;
    counts.push([t, h].map((one) => [one?.seen, one?.inserted, one?.amended, one?.confirmed]));
    seen.push(await rows());
  }
  expect(seen.at(-1)?.transfers).toMatchObject([
    {
      timestamp: '2023-11-14 22:13:20+00',
      direction: 'in',
      counterparty: key('Bob'),
      amount: 1.5,
      amount_raw: more.amountRaw,
      extra: '{"isNew":true}',
      run_id: runs[2],
    },
  ]);
  expect(seen.at(-1)?.history).toMatchObject([
    { timestamp: '2023-11-14 22:13:20+00', fee: 0.5, balance_changes: [change], run_id: runs[2] },
  ]);
  expect(counts).toEqual([
    [
      [1, 1, 0, 0],
      [1, 1, 0, 0],
    ],
    [
      [1, 0, 1, 0],
      [1, 0, 1, 0],
    ],
    [
      [1, 0, 1, 0],
      [1, 0, 1, 0],
    ],
    [
      [1, 0, 0, 1],
      [1, 0, 0, 1],
    ],
  ]);
  expect(new Set(seen.slice(0, 3).map(({ hashes }) => JSON.stringify(hashes))).size).toBe(3);
  expect(seen[3]).toEqual(seen[2]);

  // All four nights at once.
  await place.cli('rebuild', '--from-archive');
  expect(await rows()).toEqual(seen[3]);
});

test('of several answers of one night, each fills what those before it leave NULL', async () => {
  const [first, later] = [key('Ann'), key('Bob')];
  const place = await openScripted(
    (_, { address }) =>
      JSON.stringify({
        context: { slot: 200 },
        value: {
          items: [
            { signature: signature('S'), slot: 100, blockTime: address === later ? 1_700_000_000 : null },
          ],
          cursor: null,
        },
      }),
    {
      'jobs/a.yaml': `describe: test\nmethod: getCompressionSignaturesForAddress\nsince: all\nfor_each: {address: {values: [${first}]}}\n`,
      'jobs/b.yaml': `describe: test\nmethod: getCompressionSignaturesForAddress\nsince: all\nfor_each: {address: {values: [${later}]}}\n`,
    },
  );
  await place.mustRun();
  expect(await place.rows('select block_time from compression_signatures')).toEqual([
    { block_time: '2023-11-14 22:13:20+00' },
  ]);
});
