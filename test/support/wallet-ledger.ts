import type { Call, Script } from './scripted-api.ts';

/** A transaction of a wallet. */
export interface WalletEvent {
  /** Tells its signature. */
  name: string;
  /** Unix time; null: the answers say none. */
  time: number | null;
  /** Its transfers. Default: 1. */
  transfers?: number;
}

/** Wallets whose transactions a test adds: `events` of each, newest first. */
export type WalletLedger = Record<string, WalletEvent[]>;

export const walletKey = (name: string) => name.padEnd(43, '1');
export const signatureOf = ({ name }: WalletEvent) =>
  `S${name.replaceAll(/[^1-9A-Za-km-z]/g, 'z')}Q`.padEnd(88, '1');

/** Answers `walletHistory` (its cursor is a signature) and `walletTransfers` (signature and number of the row) as of now. */
export function answerWallets(ledger: WalletLedger, pageSize: number): Script {
  return ({ operation, params }: Call) => {
    const events = ledger[params.wallet] ?? [];
    const rows = operation === 'walletHistory' ? historyOf(params.wallet, events) : transfersOf(events);
    const cursor = operation === 'walletHistory' ? params.before : params.cursor;
    const from = cursor === undefined ? 0 : rows.findIndex((row) => row.cursor === cursor) + 1;
    const page = rows.slice(from, from + Math.min(pageSize, Number(params.limit)));
    const hasMore = from + page.length < rows.length;
    const nextCursor = hasMore ? page.at(-1)?.cursor : null;
    return { data: page.map(({ record }) => record), pagination: { hasMore, nextCursor } };
  };
}

interface Row {
  cursor: string;
  record: Record<string, unknown>;
}

function historyOf(wallet: string, events: readonly WalletEvent[]): Row[] {
  return events.map((event) => ({
    cursor: signatureOf(event),
    record: {
      ...{ signature: signatureOf(event), timestamp: event.time, slot: 7, fee: 1, feePayer: wallet },
      ...{ error: null, balanceChanges: [{ mint: walletKey('Mint'), amount: 1, decimals: 0 }] },
    },
  }));
}

function transfersOf(events: readonly WalletEvent[]): Row[] {
  return events.flatMap((event) =>
    Array.from({ length: event.transfers ?? 1 }, (_, n) => ({
      cursor: `${signatureOf(event)}.${n}`,
      record: {
        ...{ signature: signatureOf(event), timestamp: event.time, direction: 'in', decimals: 0 },
        ...{ counterparty: walletKey('Bob'), mint: walletKey('Mint'), amount: n, amountRaw: `${n}` },
      },
    })),
  );
}

/** `signature/position: amount` of every transfer that the ledger has of a wallet, sorted. */
export function listTransfers(events: readonly WalletEvent[]): string[] {
  return transfersOf(events)
    .map(({ record }) => `${record.signature}/${record.amount}: ${record.amount}`)
    .sort();
}
