import { decimalsOf, priceOf } from './asset-token-text.ts';
import { mintIndex } from './asset-traits.ts';
import { decodeBase58 } from './base58.ts';
import type { KeyTable } from './key-table.ts';
import { createMemory, groupRows } from './memory.ts';
import { createWalletEvents, transactionFee, type WalletEvent } from './wallet-events.ts';
import { createWalletIdentities, type WalletIdentities } from './wallet-identities.ts';
import type { WorldAssets } from './world-assets.ts';
import type { WorldCompression } from './world-compression.ts';
import type { WorldSignatures } from './world-signatures.ts';
import type { WorldTokenAccounts } from './world-token-accounts.ts';

/** The mint of the ledger's own token in balances and changes. */
export const nativeMint = 'So11111111111111111111111111111111111111112';

/** A wallet's holding of one mint. */
export interface Holding {
  /** The number of the mint; -1 for the ledger's own token. */
  mint: number;
  address: string;
  raw: bigint;
  decimals: number;
  price: number | null;
  usdValue: number | null;
}

/** The wallets: owner n is wallet n; an unknown address is number -1 and has nothing. */
export interface WorldWallets {
  readonly identities: WalletIdentities;
  /** Newest first. */
  events(owner: number): WalletEvent[];
  /** Position of the event with this signature in the list of `events`, or -1. */
  findEvent(owner: number, signature: string): number;
  /** One for each mint with an open account, and the native one; by USD value, those without a price last. */
  holdings(owner: number): Holding[];
  /** Living assets other than fungible ones, ascending by id. */
  nfts(owner: number): number[];
  /** The event that funded the wallet; null when it is unknown. */
  funding(owner: number): WalletEvent | null;
  mintAddress(mint: number): string;
  mintDecimals(mint: number): number;
  tick(): void;
}

export interface WalletParts {
  seed: number;
  quirks: boolean;
  owners: KeyTable;
  assets: WorldAssets;
  tokenAccounts: WorldTokenAccounts;
  signatures: WorldSignatures;
  compression: WorldCompression;
}

export function createWorldWallets(parts: WalletParts): WorldWallets {
  const { owners, assets } = parts;
  const identities = createWalletIdentities(parts.seed, owners);
  const { get: events, forget } = createMemory(
    createWalletEvents({ ...parts, outsiders: identities.outsiders }),
  );
  const owned = groupRows(assets.keys, owners.size, assets.ownerOf, (index) => !isNft(assets, index));
  return {
    identities,
    events,
    findEvent: (owner, signature) => findEvent(events(owner), signature),
    holdings: (owner) => (owner === -1 ? [] : listHoldings(parts, owner, events(owner))),
    nfts: (owner) => Array.from(owned.rows(owner)),
    funding: (owner) => (owner === -1 || owner % 5 === 2 ? null : (events(owner).at(-1) ?? null)),
    mintAddress: (mint) => (mint === -1 ? nativeMint : assets.keys.text(mintIndex(mint))),
    mintDecimals: (mint) => (mint === -1 ? 9 : decimalsOf(assets, mintIndex(mint))),
    tick() {
      forget();
      owned.forget();
    },
  };
}

function isNft(assets: WorldAssets, index: number): boolean {
  return !assets.isBurnt(index) && assets.traits.kindOf(index) !== 'fungible';
}

function findEvent(events: readonly WalletEvent[], signature: string): number {
  const bytes = decodeBase58(signature, 64);
  if (bytes === null) return -1;
  // Base58 is slow: only an event with the same first word is encoded.
  const rank = new DataView(bytes.buffer).getUint32(0);
  return events.findIndex(({ keys, index }) => keys.rank(index) === rank && keys.text(index) === signature);
}

function listHoldings(parts: WalletParts, owner: number, events: readonly WalletEvent[]): Holding[] {
  const { assets, tokenAccounts } = parts;
  const sums = new Map<number, bigint>([[-1, nativeBalance(events)]]);
  for (const row of tokenAccounts.ofOwner(owner)) {
    const { mint, amount } = tokenAccounts.state(row);
    sums.set(mint, (sums.get(mint) ?? 0n) + amount);
  }
  const holdings = [...sums].map(([mint, raw]): Holding => {
    const index = mintIndex(mint);
    const decimals = mint === -1 ? 9 : decimalsOf(assets, index);
    const price = mint === -1 ? 150 + (assets.priceVersion % 7) : priceOf(assets, index);
    const usdValue = price === null ? null : (Number(raw) / 10 ** decimals) * price;
    const address = mint === -1 ? nativeMint : assets.keys.text(index);
    return { mint, address, raw, decimals, price, usdValue };
  });
  return holdings.sort((a, b) => (b.usdValue ?? -1) - (a.usdValue ?? -1) || a.mint - b.mint);
}

function nativeBalance(events: readonly WalletEvent[]): bigint {
  let lamports = 0n;
  for (const { moves, paysFee } of events) {
    if (paysFee) lamports -= transactionFee;
    for (const { mint, raw } of moves) if (mint === -1) lamports += raw;
  }
  return lamports < 0n ? 0n : lamports;
}
