import { collectionName, tokenSymbol } from './asset-content-text.ts';
import { mintIndex } from './asset-traits.ts';
import { transactionFee, type WalletEvent } from './wallet-events.ts';
import { blockTimeOf } from './world-signatures.ts';
import type { WorldState } from './world-state.ts';
import type { Holding } from './world-wallets.ts';

/** The exact change of a mint by a transaction. */
export interface BalanceChange {
  mint: string;
  raw: bigint;
  decimals: number;
}

/** The changes by one event, per mint: its moves and the fee. */
export function balanceChanges(world: WorldState, event: WalletEvent): BalanceChange[] {
  const sums = new Map<number, bigint>();
  for (const { mint, raw } of event.moves) sums.set(mint, (sums.get(mint) ?? 0n) + raw);
  if (event.paysFee) sums.set(-1, (sums.get(-1) ?? 0n) - transactionFee);
  return [...sums]
    .filter(([, raw]) => raw !== 0n)
    .map(([mint, raw]) => ({
      mint: world.wallets.mintAddress(mint),
      raw,
      decimals: world.wallets.mintDecimals(mint),
    }));
}

/** A row of the history (spec, "Transaction history item"); amounts are floats there. */
export function historyRecord(world: WorldState, wallet: string, event: WalletEvent) {
  const changes = balanceChanges(world, event);
  return {
    signature: event.keys.text(event.index),
    timestamp: timestampOf(event),
    slot: event.slot,
    fee: Number(transactionFee) / 1e9,
    feePayer: event.paysFee ? wallet : otherPayer(world, event),
    error: event.failed ? errorOf(event) : null,
    balanceChanges: changes.map(({ mint, raw, decimals }) => ({
      mint,
      amount: toFloat(raw, decimals),
      decimals,
    })),
  };
}

/** The rows of an event in the transfers, one a move, in this order. */
export function transferRecords(world: WorldState, event: WalletEvent) {
  const { wallets } = world;
  return event.moves.map(({ mint, raw, counterparty }) => {
    const size = raw < 0n ? -raw : raw;
    const decimals = wallets.mintDecimals(mint);
    const symbol = symbolOf(world, mint);
    return {
      signature: event.keys.text(event.index),
      timestamp: timestampOf(event),
      direction: raw < 0n ? ('out' as const) : ('in' as const),
      counterparty: wallets.identities.outsiders.text(counterparty),
      mint: wallets.mintAddress(mint),
      ...(symbol === null ? {} : { symbol }),
      amount: toFloat(size, decimals),
      amountRaw: `${size}`,
      decimals,
    };
  });
}

/** The source of a wallet's first funds. */
export function fundingRecord(world: WorldState, event: WalletEvent) {
  const [move] = transferRecords(world, event);
  if (move === undefined) throw new Error('a funding moves something');
  const { counterparty: funder, mint, amount, amountRaw, decimals, signature } = move;
  const identity = world.wallets.identities.of(funder);
  const timestamp = blockTimeOf(event.slot);
  return {
    funder,
    ...(identity === null ? {} : { funderName: identity.name, funderType: identity.type }),
    mint,
    symbol: 'SOL',
    amount,
    amountRaw,
    decimals,
    signature,
    timestamp,
    date: new Date(timestamp * 1000).toISOString(),
    slot: event.slot,
    explorerUrl: `https://explorer.example/tx/${signature}`,
  };
}

/** A row of the balances; only some have a name, price or logo. */
export function balanceRecord(world: WorldState, holding: Holding) {
  const { mint, address, raw, decimals, price, usdValue } = holding;
  const symbol = symbolOf(world, mint);
  const native = mint === -1;
  return {
    mint: address,
    ...(symbol === null ? {} : { symbol }),
    ...(native || mint % 4 !== 1 ? { name: native ? 'Solana' : `Token ${symbol ?? mint}` } : {}),
    balance: toFloat(raw, decimals),
    decimals,
    ...(price === null ? {} : { pricePerToken: price, usdValue }),
    ...(native || mint % 3 === 0 ? { logoUri: `https://cdn.ledger.example/logo/${address}.png` } : {}),
    tokenProgram: mint % 5 === 4 ? 'token-2022' : 'spl-token',
  };
}

export function nftRecord(world: WorldState, index: number) {
  const { assets } = world;
  const { collection, kind } = assets.state(index);
  return {
    mint: assets.keys.text(index),
    name: `${collectionName(collection)} #${index}`,
    imageUri: `https://cdn.ledger.example/img/${index}.png`,
    collectionName: collectionName(collection),
    collectionAddress: assets.collectionKeys.text(collection),
    compressed: kind === 'compressed',
  };
}

/** Null for a token without a known symbol. */
function symbolOf(world: WorldState, mint: number): string | null {
  if (mint === -1) return 'SOL';
  return mint % 6 === 5 ? null : tokenSymbol(world.assets.state(mintIndex(mint)));
}

function otherPayer(world: WorldState, event: WalletEvent): string {
  const { outsiders } = world.wallets.identities;
  return event.payer === undefined
    ? outsiders.text(event.index % outsiders.size)
    : world.owners.text(event.payer);
}

function timestampOf(event: WalletEvent): number | null {
  return event.timeless ? null : blockTimeOf(event.slot);
}

function errorOf(event: WalletEvent): string {
  return event.index % 2 === 0 ? 'InstructionError: [2, {"Custom":6001}]' : 'InsufficientFundsForFee';
}

/** An amount as the API writes it: an inexact double, beside the exact `amountRaw`. */
function toFloat(raw: bigint, decimals: number): number {
  return Number(raw) / 10 ** decimals;
}
