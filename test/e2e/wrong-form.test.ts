import { expect, test } from 'vitest';
import { findOperation } from '../../src/operations/catalogue.ts';
import { daily, firstOf } from '../levels.ts';
import {
  laterSlot,
  ledgerAt,
  listJobs,
  lists,
  readCase,
  type Size,
  sizes,
  targetOf,
} from '../support/list-ledger.ts';
import { openInstallation } from '../support/nights.ts';
import { compareTables } from '../support/rows.ts';
import { type Call, RawReply, RpcError, type Script } from '../support/scripted-api.ts';
import { put } from '../support/scripted-list.ts';

/** A wrong answer to a list: made of the right one, or in its place. */
type Wrong = (call: Call, right: Record<string, unknown>) => unknown;

const pathOf = ({ operation }: Call) => findOperation(operation)!.records.path;
const isWallet = ({ operation }: Call) => findOperation(operation)!.transport === 'wallet';

function withRecords(call: Call, right: Record<string, unknown>, value: unknown): unknown {
  put(right, pathOf(call), value);
  return right;
}

function recordsOf(call: Call, right: Record<string, unknown>): unknown[] {
  return pathOf(call).reduce<unknown>(
    (value, name) => (value as Record<string, unknown>)[name],
    right,
  ) as unknown[];
}

/** The right answer without the member that holds its records. */
function withoutRecords(call: Call, right: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(withRecords(call, right, undefined)));
}

/** Kinds of answers that are broken as a whole: the target fails, whatever it had stays. */
const brokenKinds: Record<string, Wrong> = {
  'null as the result': () => null,
  'null for the list': (call, right) => withRecords(call, right, null),
  'no list': withoutRecords,
  'an object for the list': (call, right) => withRecords(call, right, { rows: [] }),
  'not found': (call) =>
    isWallet(call)
      ? new RawReply('{"error":"Wallet not found","code":404}', 404)
      : new RpcError(-32000, 'Not Found'),
  'no such service': (call) =>
    isWallet(call)
      ? new RawReply('default backend - 404', 404, 'text/plain')
      : new RpcError(-32000, 'Service not found'),
};

/** Whether a call asks for the first page of a list. */
function isFirstPage({ operation, params }: Call): boolean {
  const { cursorParam = 'cursor', paging } = findOperation(operation)!;
  return paging === 'pages' ? Number(params.page) === 1 : params[cursorParam] === undefined;
}

interface WrongNight {
  /** Every second operation: more failures in a row would be an API that is down. */
  half: number;
  size: Size;
}

function isAimedAt(operation: string, half: number): boolean {
  return lists.findIndex((one) => one.operation === operation) % 2 === half;
}

/** The ledger with wrong answers for the last page that is asked of a list: of a feed that is covered, the first. */
function wrongNight(slot: number, wrong: Wrong, { half, size }: WrongNight): Script {
  const right = ledgerAt(slot);
  return (call) => {
    const answer = right(call) as Record<string, unknown>;
    const { size: own } = readCase(call);
    const isFeed = findOperation(call.operation)?.paging === 'feed';
    const isPage = isFirstPage(call) === (size === 'small' || isFeed);
    return own === size && isAimedAt(call.operation, half) && isPage ? wrong(call, answer) : answer;
  };
}

const slots = /^(slot|\w+_slot)$/;
/** The slots that a version was last confirmed at, also by the targets that were right in a wrong night. */
const confirmed = /^(slot|(base|content|token_info)_slot)$/;

test('answers of the wrong form fail their target and change no row; a right night then ends as if they had not been', async () => {
  const place = await openInstallation(listJobs());
  expect((await place.night(ledgerAt(1000))).code).toBe(0);
  const before = await place.tables(slots);
  let slot = 1000;
  // Every operation meets every kind in test/unit/crawl/wrong-form.test.ts and test/unit/api/classify.test.ts.
  for (const [n, [kind, wrong]] of firstOf(4, Object.entries(brokenKinds)).entries()) {
    slot += 10;
    const [half, size] = [n % 2, n % 4 < 2 ? 'large' : 'small'] as const;
    const { code, report } = await place.night(wrongNight(slot, wrong, { half, size }));
    const failed = Object.entries(report?.jobs ?? {}).filter(([, job]) => job.failed > 0);
    const aimed = lists.filter(
      (one) => isAimedAt(one.operation, half) && (size === 'large' || one.param !== null),
    );
    const night = { kind, size, half };
    expect({ ...night, code, failed: failed.map(([name]) => name).sort() }).toEqual({
      ...{ ...night, code: 3 },
      failed: aimed.map(({ operation }) => operation.toLowerCase()).sort(),
    });
    const differs = compareTables(before, await place.tables(slots));
    expect({ ...night, differs }).toEqual({ ...night, differs: [] });
  }
  expect((await place.night(ledgerAt(laterSlot))).code).toBe(0);
  const clean = await openInstallation(listJobs());
  await clean.night(ledgerAt(1000));
  await clean.night(ledgerAt(laterSlot));
  const expected = await clean.tables(confirmed);
  expect(compareTables(expected, await place.tables(confirmed))).toEqual([]);
  expect(await place.rebuild()).toBe(0);
  expect(compareTables(expected, await place.tables(confirmed))).toEqual([]);
});

/** What the ledger says of ids: records of the lists, null for others. */
const lookUp: Script = ({ operation, params }) => {
  const recordsIn = (name: string) => {
    const one = lists.find((other) => other.operation === name)!;
    return (['small', 'large'] as const).flatMap((size) =>
      Array.from({ length: sizes[size] }, (_, n) => one.record(targetOf(one, size), n, 1010)),
    );
  };
  if (operation === 'getAssetBatch') {
    const assets = recordsIn('getAssetsByGroup') as { id: string }[];
    return (params.ids as string[]).map((id) => assets.find((asset) => asset.id === id) ?? null);
  }
  const accounts = recordsIn('getCompressedTokenAccountsByOwner') as { account: { hash: string } }[];
  const items = (params.hashes as string[]).map(
    (hash) => accounts.find(({ account }) => account.hash === hash)?.account ?? null,
  );
  return { context: { slot: 1010 }, value: { items } };
};

test('nulls among the records of a list may be any row: nothing leaves, and the next night closes what did', async () => {
  const cases = lists.filter(({ operation }) =>
    ['getAssetsByGroup', 'getTokenAccounts', 'getCompressedTokenAccountsByOwner', 'walletBalances'].includes(
      operation,
    ),
  );
  const place = await openInstallation(listJobs(cases));
  await place.night(ledgerAt(1000));
  const keys = () =>
    place.rows(
      `from (select id from assets union all select address from token_accounts
        union all select hash from compressed_token_accounts union all select wallet || mint from wallet_balances) order by 1`,
    );
  const before = await keys();
  const nulls: Script = (call) => {
    if (!cases.some(({ operation }) => operation === call.operation)) return lookUp(call);
    const answer = ledgerAt(1010)(call) as Record<string, unknown>;
    return withRecords(
      call,
      answer,
      recordsOf(call, answer).map((record, n) => (n % 10 === 1 ? null : record)),
    );
  };
  const { code, calls } = await place.night(nulls);
  expect(code).toBe(0);
  // What can be looked up is: those nulls must not stand in the way for ever.
  for (const lookup of ['getAssetBatch', 'getMultipleCompressedAccounts'])
    expect(calls.map(({ operation }) => operation)).toContain(lookup);
  expect(await keys()).toEqual(before);
  expect(await place.rows('select distinct table_name, reason, raw from meta.quarantine order by 1')).toEqual(
    ['assets', 'compressed_token_accounts', 'token_accounts', 'wallet_balances'].map((table_name) => ({
      ...{ table_name, reason: 'the answer had null in its place', raw: 'null' },
    })),
  );
  // A balance that did leave.
  const less: Script = (call) => {
    const answer = ledgerAt(1020)(call) as Record<string, unknown>;
    return call.operation === 'walletBalances'
      ? withRecords(call, answer, recordsOf(call, answer).slice(1))
      : answer;
  };
  await place.night(less);
  expect(await place.rows('select count(*) as n from meta.quarantine')).toEqual([{ n: '0' }]);
  expect(
    await place.rows(
      'select gone_reason, count(*) as n from wallet_balances_history where gone_reason is not null group by 1',
    ),
  ).toEqual([{ gone_reason: 'zero_or_closed', n: '1' }]);
});

daily(
  'a store that is down for a moment, and knows none of the ids of a batch, closes no living row',
  async () => {
    const place = await openInstallation(
      listJobs(lists.filter(({ operation }) => operation === 'getAssetsByGroup')),
    );
    const dropped = 30;
    const [list] = lists;
    const target = targetOf(list!, 'large');
    const living = Array.from({ length: dropped }, (_, n) => list!.record(target, n, 1000) as { id: string });
    /** The list lacks rows that live on; of the look-up's requests the first is answered with nulls only. */
    const night = (slot: number) => {
      let lookUps = 0;
      const script: Script = (call) => {
        if (call.operation === 'getAssetBatch') {
          lookUps += 1;
          const ids = call.params.ids as string[];
          return ids.map((id) => (lookUps === 1 ? null : living.find((asset) => asset.id === id)));
        }
        const answer = ledgerAt(slot)(call) as Record<string, unknown>;
        const isCut = slot > 1000 && readCase(call).size === 'large' && isFirstPage(call);
        return isCut ? withRecords(call, answer, recordsOf(call, answer).slice(dropped)) : answer;
      };
      return place.night(script);
    };
    await night(1000);
    for (const slot of [1010, 1020]) {
      const { code, calls } = await night(slot);
      expect(code).toBe(0);
      const asked = calls.filter(({ operation }) => operation === 'getAssetBatch');
      expect(asked.map(({ params }) => params.ids.length)).toEqual([dropped, dropped]);
      expect(await place.rows('select count(*) as n from assets')).toEqual([{ n: '123' }]);
    }
  },
);
