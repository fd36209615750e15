import { describe, expect, test } from 'vitest';
import { daily } from '../../levels.ts';
import { type Installation, openInstallation } from '../../support/nights.ts';
import { type Call, RawReply, type Script } from '../../support/scripted-api.ts';
import {
  answerWallets,
  listTransfers,
  signatureOf,
  type WalletEvent,
  type WalletLedger,
  walletKey,
} from '../../support/wallet-ledger.ts';

const [who, other, nobody] = [walletKey('Who'), walletKey('Uther'), walletKey('Nobody')];
const pageSize = 5;
const jobsOver = (wallets: readonly string[], more = '') => ({
  'jobs/history.yaml': `describe: test\nmethod: walletHistory\npage_size: ${pageSize}\nfor_each: {wallet: {values: [${wallets}]}}\n${more}`,
  'jobs/transfers.yaml': `describe: test\nmethod: walletTransfers\npage_size: ${pageSize}\nfor_each: {wallet: {values: [${wallets}]}}\n${more}`,
});
const { 'jobs/transfers.yaml': transfers } = jobsOver([who]);
const onlyTransfers = { 'jobs/transfers.yaml': transfers };

const day = 86_400;
const began = 1_600_000_000;

/** Transactions, newest first, `apart` seconds from each other, the oldest at `from`. */
const eventsFrom = (name: string, count: number, from: number, apart = 7200): WalletEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    name: `${name}${count - n}`,
    time: from + (count - 1 - n) * apart,
    transfers: n % 3,
  }));

async function expectWhole(place: Installation, ledger: WalletLedger): Promise<void> {
  for (const [wallet, events] of Object.entries(ledger)) {
    const history = await place.rows<{ signature: string }>(
      `select signature from wallet_transactions where wallet = '${wallet}' order by signature`,
    );
    expect(history.map(({ signature }) => signature)).toEqual(events.map(signatureOf).sort());
    await expectTransfers(place, wallet, events);
  }
}

async function expectTransfers(place: Installation, wallet: string, events: WalletEvent[]): Promise<void> {
  const rows = await place.rows<{ line: string }>(
    `select signature || '/' || position || ': ' || amount_raw as line from wallet_transfers where wallet = '${wallet}'`,
  );
  expect(rows.map(({ line }) => line).sort()).toEqual(listTransfers(events));
}

const coverage = (place: Installation) =>
  place.rows(
    'select job, target, state, low_slot as low, high_slot as high, unit from meta.coverage order by all',
  );

test('moving wallets: nothing is missed night after night, and a wallet without news costs one request', async () => {
  const place = await openInstallation(jobsOver([who, other, nobody]));
  const ledger: WalletLedger = {
    [who]: eventsFrom('a', 23, began),
    [other]: eventsFrom('b', 3, began),
    [nobody]: [],
  };
  const script = answerWallets(ledger, pageSize);
  const first = await place.night(script);
  expect(first.code).toBe(0);
  await expectWhole(place, ledger);

  const quiet = await place.night(script);
  expect(quiet.calls.length).toBe(6);
  expect(quiet.report?.published.tables.wallet_transfers).toMatchObject({ inserted: 0 });

  const nights: (() => void)[] = [
    // More than two pages of one wallet, the first of another.
    () => {
      ledger[who] = [...eventsFrom('c', 12, began + 5 * day), ...ledger[who]!];
      ledger[nobody] = eventsFrom('d', 1, began + 5 * day);
    },
    // Several transactions in the newest second that is covered.
    () => {
      const newest = ledger[who]![0]!.time!;
      ledger[who] = [...eventsFrom('e', 6, newest, 0), ...ledger[who]!];
    },
    // Indexed late: 50 minutes below the newest.
    () => {
      const newest = ledger[who]![0]!.time!;
      const late = { name: 'late', time: newest - 3000, transfers: 2 };
      const at = ledger[who]!.findIndex(({ time }) => time! < late.time);
      ledger[who] = ledger[who]!.toSpliced(at, 0, late);
    },
  ];
  for (const change of nights) {
    change();
    const night = await place.night(script);
    expect(night.code).toBe(0);
    await expectWhole(place, ledger);
  }
  const late = await place.night(script);
  expect(late.report?.published.tables.wallet_transactions).toMatchObject({ inserted: 0, late: 0 });
  expect(await coverage(place)).toContainEqual({
    ...{ job: 'history', target: who, state: 'covered', unit: 'second', low: '0' },
    high: `${ledger[who]![0]!.time}`,
  });
});

daily('200 wallets: a quiet night is 400 requests', async () => {
  const wallets = Array.from({ length: 200 }, (_, n) => walletKey(`W${`${n}`.replaceAll('0', 'z')}A`));
  const place = await openInstallation(jobsOver(wallets));
  const ledger = Object.fromEntries(wallets.map((wallet) => [wallet, eventsFrom('a', 11, began)]));
  const first = await place.night(answerWallets(ledger, pageSize));
  expect(first.code).toBe(0);
  expect(first.calls.length).toBe(1000);
  const quiet = await place.night(answerWallets(ledger, pageSize));
  expect(quiet.code).toBe(0);
  expect(quiet.calls.length).toBe(400);
});

describe('a signature whose transfers go on on the next page', () => {
  // The first page ends with the third of its eight.
  const events: WalletEvent[] = [
    { name: 'new', time: began + 9000, transfers: 2 },
    { name: 'long', time: began + 8000, transfers: 8 },
    ...eventsFrom('old', 6, began - day),
  ];
  const ledger = { [who]: events };

  daily(
    'is numbered on where a crawl failed at the border, and the gap is filled the next night',
    async () => {
      const place = await openInstallation(onlyTransfers);
      const whole = answerWallets(ledger, pageSize);
      const failing: Script = (call: Call) =>
        call.params.cursor === undefined ? whole(call) : new RawReply('{"error":"no such plan"}', 403);
      const night = await place.night(failing);
      expect(night.code).not.toBe(0);
      expect((await place.night(whole)).code).toBe(0);
      await expectTransfers(place, who, events);
    },
  );

  daily('is numbered on where a gap begins in the middle of it', async () => {
    const place = await openInstallation(onlyTransfers);
    await place.night(answerWallets({ [who]: events.slice(2) }, pageSize));
    const whole = answerWallets(ledger, pageSize);
    // The page below the border is not known, whoever asks for it.
    const failing: Script = (call: Call) =>
      call.params.cursor === undefined ? whole(call) : new RawReply('{"error":"x"}', 400);
    expect((await place.night(failing)).code).toBe(3);
    // New ones on top: the head of the next night ends above the gap, which goes on at its cursor.
    const now = { [who]: [...eventsFrom('top', 9, began + 20_000), ...events] };
    const night = await place.night(answerWallets(now, pageSize));
    expect(night.code).toBe(0);
    expect(night.calls.map(({ params }) => params.cursor)).toContain(`${signatureOf(events[1]!)}.2`);
    await expectTransfers(place, who, now[who]!);
    expect(await coverage(place)).toMatchObject([{ state: 'covered', low: '0' }]);
  });

  daily('is numbered on where a budget stopped the crawl', async () => {
    const place = await openInstallation(onlyTransfers);
    expect((await place.night(answerWallets(ledger, pageSize), { maxRequests: 1 })).code).toBe(75);
    const now = { [who]: [...eventsFrom('top', 9, began + 20_000), ...events] };
    expect((await place.night(answerWallets(now, pageSize))).code).toBe(0);
    await expectTransfers(place, who, now[who]!);
  });
});

describe('one night with wallets', () => {
  const [jumpy, timeless, upwards] = [walletKey('Jumpy'), walletKey('Vague'), walletKey('Upwards')];

  test('whose times are missing, go back for some minutes, or ascend: the next nights have everything', async () => {
    const place = await openInstallation(jobsOver([jumpy, timeless, upwards]));
    const events = eventsFrom('a', 23, began);
    const jumps = events.map((event, n) => ({
      ...event,
      time: n === 1 || (n >= 10 && n < 16) ? null : n === 20 ? event.time! + 7200 + 600 : event.time,
    }));
    const ledger: WalletLedger = {
      [jumpy]: jumps,
      [timeless]: events.map((event) => ({ ...event, time: null })),
      [upwards]: events,
    };
    const whole = answerWallets(ledger, pageSize);
    const first = await place.night(whole);
    expect(first.code).toBe(0);
    for (const wallet of [jumpy, upwards])
      ledger[wallet] = [...eventsFrom('b', 8, began + 9 * day), ...ledger[wallet]!];
    await place.night((call: Call) =>
      call.params.wallet === upwards
        ? answerWallets({ [upwards]: ledger[upwards]!.toReversed() }, pageSize)(call)
        : whole(call),
    );
    await place.night(whole);
    await expectWhole(place, ledger);
    const quiet = await place.night(whole);
    const asked = (night: typeof quiet, wallet: string) =>
      night.calls.filter(({ params }) => params.wallet === wallet).length;
    expect([jumpy, upwards].map((wallet) => asked(quiet, wallet))).toEqual([2, 2]);
    // Nothing tells how far down it is known: it is read whole.
    expect(asked(quiet, timeless)).toBe(asked(first, timeless));
  });

  const [empty, short, behind] = [walletKey('Empty'), walletKey('Short'), walletKey('Behind')];

  daily(
    'that have nothing, end early, or are answered as of before: the next nights have everything',
    async () => {
      const place = await openInstallation(jobsOver([empty, short, behind]));
      const events = eventsFrom('a', 23, began);
      const ledger: WalletLedger = { [empty]: events, [short]: events, [behind]: events };
      const whole = answerWallets(ledger, pageSize);
      await place.night(whole);
      for (const wallet of [empty, short, behind])
        ledger[wallet] = [...eventsFrom('b', 13, began + 9 * day), ...events];
      const noMore = { pagination: { hasMore: false, nextCursor: null } };
      const wrong: Record<string, Script> = {
        [empty]: () => ({ data: [], ...noMore }),
        [short]: (call) => ({ ...(whole(call) as object), ...noMore }),
        [behind]: answerWallets({ [behind]: events.slice(3) }, pageSize),
      };
      await place.night((call: Call) => wrong[call.params.wallet]!(call));
      await place.night(whole);
      await place.night(whole);
      await expectWhole(place, ledger);
      expect((await place.night(whole)).calls.length).toBe(6);
    },
  );
});

daily('other parameters begin anew, and `since` bounds a first crawl', async () => {
  const place = await openInstallation(jobsOver([who], `since: 2d\n`));
  const now = Math.floor(Date.now() / 1000);
  const ledger = { [who]: [...eventsFrom('a', 20, now - day, 600), ...eventsFrom('b', 50, began)] };
  const night = await place.night(answerWallets(ledger, pageSize), { hoursLater: 1 });
  expect(night.code).toBe(0);
  expect(night.calls.filter(({ operation }) => operation === 'walletHistory').length).toBe(5);
  const history = `describe: test\nmethod: walletHistory\npage_size: ${pageSize}\nparams: {tokenAccounts: all}\nfor_each: {wallet: {values: [${who}]}}\n`;
  await place.write('jobs/history.yaml', history);
  expect((await place.night(answerWallets(ledger, pageSize), { hoursLater: 1 })).code).toBe(0);
  await expect(place.rows('select count(*)::int as n from wallet_transactions')).resolves.toEqual([
    { n: 70 },
  ]);
});
