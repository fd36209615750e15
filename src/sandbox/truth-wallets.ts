import type { WalletEvent } from './wallet-events.ts';
import type { Identity } from './wallet-identities.ts';
import {
  type BalanceChange,
  balanceChanges,
  balanceRecord,
  fundingRecord,
  historyRecord,
  nftRecord,
  transferRecords,
} from './wallet-records.ts';
import type { WorldState } from './world-state.ts';

/** One transaction of a wallet. */
export interface WalletTransactionTruth {
  signature: string;
  slot: number;
  type: string;
  /** `direct` is in every mode of the history, `balance` not in `none`, `spam` in `all` only. */
  reach: WalletEvent['reach'];
  /** Exact changes, the fee included; negative for a decrease. */
  changes: BalanceChange[];
  /** The history row, and the rows of the transfers in their order, as JSON text. */
  record: string;
  transfers: string[];
}

export interface WalletBalanceTruth {
  mint: string;
  /** Exact amount in the smallest unit. */
  raw: bigint;
  decimals: number;
  usdValue: number | null;
  /** The row of the balances as JSON text. */
  record: string;
}

/** Everything about the wallets; every owner is one. Unknown addresses have nothing. */
export interface WalletTruth {
  /** Null where the API answers 404. */
  walletIdentity(wallet: string): Identity | null;
  /** Addresses that are not owners; most have identities. */
  outsiders(): string[];
  /** In the order of the answer, the empty ones (hidden without showZeroBalance) and the native one included. */
  walletBalances(wallet: string): WalletBalanceTruth[];
  /** NFTs as JSON text; the answer shows the first hundred. */
  walletNfts(wallet: string): string[];
  /** Newest first. */
  walletTransactions(wallet: string): WalletTransactionTruth[];
  /** The answer of funded-by as JSON text; null where it is 404. */
  walletFunding(wallet: string): string | null;
}

export function createWalletTruth(world: WorldState): WalletTruth {
  const { owners, wallets } = world;
  const { outsiders } = wallets.identities;
  return {
    walletIdentity: (wallet) => wallets.identities.of(wallet),
    outsiders: () => Array.from({ length: outsiders.size }, (_, index) => outsiders.text(index)),
    walletBalances: (wallet) =>
      wallets.holdings(owners.find(wallet)).map((holding) => ({
        mint: holding.address,
        raw: holding.raw,
        decimals: holding.decimals,
        usdValue: holding.usdValue,
        record: JSON.stringify(balanceRecord(world, holding)),
      })),
    walletNfts: (wallet) =>
      wallets.nfts(owners.find(wallet)).map((index) => JSON.stringify(nftRecord(world, index))),
    walletTransactions: (wallet) =>
      wallets.events(owners.find(wallet)).map((event) => transactionTruth(world, wallet, event)),
    walletFunding(wallet) {
      const event = wallets.funding(owners.find(wallet));
      return event === null ? null : JSON.stringify(fundingRecord(world, event));
    },
  };
}

function transactionTruth(world: WorldState, wallet: string, event: WalletEvent): WalletTransactionTruth {
  return {
    signature: event.keys.text(event.index),
    slot: event.slot,
    type: event.type,
    reach: event.reach,
    changes: balanceChanges(world, event),
    record: JSON.stringify(historyRecord(world, wallet, event)),
    transfers: transferRecords(world, event).map((row) => JSON.stringify(row)),
  };
}
