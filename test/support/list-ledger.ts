import type { Call, Script } from './scripted-api.ts';
import { answerList } from './scripted-list.ts';

/** One list or feed operation, and what its ledger says. */
export interface ListCase {
  operation: string;
  /** The parameter that its targets fill; null: it has one target. */
  param: string | null;
  /** Further lines of its job file. */
  more: string;
  /** The nth record of a target's list (from 0) as the ledger has it at a slot. */
  record(target: string, n: number, slot: number): unknown;
  /** Feeds: records from the newest to the oldest; others have the same ones at every slot. */
  isFeed: boolean;
}

/** Records of a target's list, and of one of its pages. */
export const sizes = { small: 3, large: 120 } as const;
export type Size = keyof typeof sizes;
export const pageSize = 50;
/** From here on amounts are others and feeds have more. */
export const laterSlot = 5_000;
const newSignatures = 60;

const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZ';
/** A name and a number as text in base58, as long as an address (or a signature). */
export function key(name: string, n = 0, length = 43): string {
  const number = digits.charAt(Math.floor(n / 33)) + digits.charAt(n % 33);
  return `${name}${number}`.padEnd(length, '1');
}

const mint = key('Mint');
const amountAt = (slot: number, n: number) => (slot >= laterSlot ? 1000 + n : n + 1);
const asset = (target: string, n: number, slot: number) => ({
  id: key(target.slice(0, 8), n),
  interface: 'V1_NFT',
  ownership: { owner: key('Who', amountAt(slot, n) % 900), ownership_model: 'single' },
  grouping: [{ group_key: 'collection', group_value: target }],
  creators: [{ address: target, share: 100, verified: true }],
  burnt: false,
});
const signatureOf = (target: string, n: number) => key(target.slice(0, 8), n, 86);
const signature = (target: string, n: number) => ({
  signature: signatureOf(target, n),
  slot: n < newSignatures ? laterSlot - n : 900 - n,
  blockTime: 1_700_000_000 - n,
});
const event = (target: string, n: number) => ({
  signature: signatureOf(target, n),
  timestamp: 1_700_000_000 - n,
});

function list(operation: string, param: string, record: ListCase['record'], more = ''): ListCase {
  return { operation, param, record, more, isFeed: false };
}

function feed(operation: string, param: string | null): ListCase {
  return { operation, param, record: signature, more: 'since: all\n', isFeed: true };
}

/** Every list and feed of the catalogue. */
export const lists: readonly ListCase[] = [
  list('getAssetsByGroup', 'groupValue', asset, 'params: {groupKey: collection}\n'),
  list('getAssetsByCreator', 'creatorAddress', asset),
  list('getTokenAccounts', 'owner', (owner, n, slot) => ({
    ...{ address: key(owner.slice(0, 8), n), mint, owner, amount: amountAt(slot, n) },
  })),
  list('getCompressedTokenAccountsByOwner', 'owner', (owner, n, slot) => ({
    account: {
      ...{ hash: key(owner.slice(0, 8), n), address: null, data: null, owner: key('Program'), lamports: 0 },
      ...{ tree: key('Tree'), leafIndex: n, seq: n, slotCreated: 10 },
    },
    tokenData: { mint, owner, amount: amountAt(slot, n), delegate: null, state: 'initialized', tlv: null },
  })),
  list('walletBalances', 'wallet', (_, n, slot) => ({
    ...{ mint: key('Coin', n), balance: amountAt(slot, n), decimals: 0 },
  })),
  list('walletHistory', 'wallet', (wallet, n) => ({
    ...event(wallet, n),
    ...{ slot: 900 - n, fee: 1, feePayer: wallet, error: null },
    balanceChanges: [{ mint, amount: n, decimals: 0 }],
  })),
  list('walletTransfers', 'wallet', (wallet, n) => ({
    ...event(wallet, n),
    ...{ direction: 'in', counterparty: key('Other'), mint, amount: n, amountRaw: `${n}`, decimals: 0 },
  })),
  feed('getCompressionSignaturesForTokenOwner', 'owner'),
  feed('getCompressionSignaturesForAddress', 'address'),
  feed('getLatestCompressionSignatures', null),
];

/** The target of a case and size; `getLatestCompressionSignatures` has only its large list. */
export function targetOf({ operation }: Pick<ListCase, 'operation'>, size: Size): string {
  const prefix = operation.replace(/[^A-Z]/g, '').replaceAll(/[IO]/g, 'X');
  return key(`${size === 'small' ? 'S' : 'L'}${prefix}`.padEnd(8, 'z'));
}

/** Job files: one a case, over its small and its large target. */
export function listJobs(cases: readonly ListCase[] = lists): Record<string, string> {
  const files = cases.map((one) => {
    const { operation, param, more } = one;
    const targets = [targetOf(one, 'small'), targetOf(one, 'large')];
    const each = param === null ? '' : `for_each: {${param}: {values: [${targets}]}}\n`;
    const text = `describe: test\nmethod: ${operation}\n${more}${each}page_size: ${pageSize}\n`;
    return [`jobs/${operation.toLowerCase()}.yaml`, text];
  });
  return Object.fromEntries(files);
}

/** The case and the size of the target that a call is about. */
export function readCase({ operation, params }: Call): { one: ListCase; size: Size } {
  const one = lists.find((other) => other.operation === operation)!;
  const isSmall = one.param !== null && params[one.param] === targetOf(one, 'small');
  return { one, size: isSmall ? 'small' : 'large' };
}

/** What the ledger answers at a slot. */
export function ledgerAt(slot: number): Script {
  return (call) => {
    const { one, size } = readCase(call);
    const target = targetOf(one, size);
    const isEarly = slot < laterSlot;
    const from = one.isFeed && isEarly ? newSignatures : 0;
    const count = sizes[size] + (one.isFeed && !isEarly ? newSignatures : 0);
    const records = Array.from({ length: count }, (_, n) => one.record(target, from + n, slot));
    return answerList(call, records, { slot, pageSize });
  };
}
