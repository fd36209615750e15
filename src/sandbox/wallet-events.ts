import { startSlot } from './asset-traits.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { hashStream, Random } from './random.ts';
import type { WorldCompression } from './world-compression.ts';
import type { WorldSignatures } from './world-signatures.ts';
import type { WorldTokenAccounts } from './world-token-accounts.ts';

/** The transaction types of the history (spec, "Transaction type filter values"). */
export const historyTypes =
  `SWAP TRANSFER NFT_SALE NFT_BID NFT_LISTING NFT_MINT NFT_CANCEL_LISTING TOKEN_MINT BURN COMPRESSED_NFT_MINT
  COMPRESSED_NFT_TRANSFER COMPRESSED_NFT_BURN CREATE_STORE WHITELIST_CREATOR ADD_TO_WHITELIST
  REMOVE_FROM_WHITELIST AUCTION_MANAGER_CLAIM_BID EMPTY_PAYMENT_ACCOUNT UPDATE_PRIMARY_SALE_METADATA
  ADD_TOKEN_TO_VAULT ACTIVATE_VAULT INIT_VAULT INIT_BANK INIT_STAKE MERGE_STAKE SPLIT_STAKE
  CREATE_AUCTION_MANAGER START_AUCTION CREATE_AUCTION_MANAGER_V2 UPDATE_EXTERNAL_PRICE_ACCOUNT
  EXECUTE_TRANSACTION`.split(/\s+/);

/** An amount that one transaction moved into or (negative) out of a wallet. */
export interface WalletMove {
  /** The number of the mint; -1 for the ledger's own token. */
  mint: number;
  raw: bigint;
  /** Number of the outsider on the other side. */
  counterparty: number;
}

/** One transaction as a wallet sees it. */
export interface WalletEvent {
  /** Its signature is key `index` of `keys`. */
  keys: KeyTable;
  index: number;
  slot: number;
  type: string;
  /** Which of the history's token-account modes show it: `direct` all, `balance` two, `spam` only `all`. */
  reach: 'direct' | 'balance' | 'spam';
  paysFee: boolean;
  /** Number of another wallet that pays; an outsider pays without one. */
  payer?: number;
  failed: boolean;
  /** No block time is known. */
  timeless: boolean;
  moves: WalletMove[];
}

/** Fee of a transaction, in lamports. */
export const transactionFee = 5000n;

export interface WalletEventParts {
  seed: number;
  quirks: boolean;
  outsiders: KeyTable;
  tokenAccounts: WorldTokenAccounts;
  signatures: WorldSignatures;
  compression: WorldCompression;
}

/**
 * Lists the events of a wallet, newest first. All moves of a mint add up to the current amounts of its token accounts;
 * a funding (the oldest event) pays for the fees.
 */
export function createWalletEvents(parts: WalletEventParts): (owner: number) => WalletEvent[] {
  const { seed } = parts;
  const tables = ['token', 'wallet', 'spam'].map((name) =>
    createKeyTable(seed, `${name}-transaction`, 0, 64),
  );
  const [tokenKeys, walletKeys, spamKeys] = tables as [KeyTable, KeyTable, KeyTable];
  const words = hashStream(seed, 'wallet-event');
  const randomOf = (index: number) => new Random(words(index), parts.quirks);
  const tokenEvents = (account: number) => {
    const { mint } = parts.tokenAccounts.state(account);
    return amountMoves(parts, account, words).map(({ slot, raw }, n): WalletEvent => {
      const index = account * 256 + (n & 255);
      const random = randomOf(index ^ 0x2aaaaaaa);
      const details = describeMove({ mint, raw, counterparty: random.below(parts.outsiders.size) }, random);
      return { keys: tokenKeys, index, slot, ...details, failed: false, timeless: random.quirk(25) };
    });
  };
  const otherEvents = (owner: number) =>
    Array.from({ length: 1 + (words(owner) % 24) }, (_, n): WalletEvent => {
      const index = owner * 64 + n;
      const random = randomOf(index ^ 0x15555555);
      const details =
        n === 0
          ? drawFunding(random, parts.outsiders.size)
          : drawOther(random, owner + n, parts.outsiders.size);
      return { keys: walletKeys, index, ...details, timeless: random.quirk(25) };
    });
  return (owner) => {
    if (owner === -1) return [];
    const accounts = Array.from(parts.tokenAccounts.everOfOwner(owner));
    return [
      ...accounts.flatMap(tokenEvents).filter(({ moves }) => moves[0]?.raw !== 0n),
      ...otherEvents(owner),
      ...spamEvents(owner, spamKeys, words),
      ...compressionEvents(owner, parts),
    ].sort(newestFirst);
  };
}

function newestFirst(a: WalletEvent, b: WalletEvent): number {
  return b.slot - a.slot || b.keys.rank(b.index) - a.keys.rank(a.index);
}

/** The moves of a token account; its first amount arrives in up to three parts. */
function amountMoves(parts: WalletEventParts, account: number, words: (index: number) => number) {
  const [first, ...later] = parts.tokenAccounts.amountSteps(account);
  const { slot, amount } = first as { slot: number; amount: bigint };
  const random = new Random(words(account));
  const extra = (random.u64() >> 20n) + 1n;
  const ways = [[amount], [amount / 2n, extra, amount - amount / 2n - extra]];
  // No move exceeds 64 bits.
  if (amount + extra < 2n ** 64n) ways.push([amount + extra, -extra]);
  const raws = parts.tokenAccounts.isNew(account) ? [amount] : random.pick(ways);
  const born = raws.map((raw, n) => ({ slot: slot - (raws.length - 1 - n) * (1 + random.below(9000)), raw }));
  let held = amount;
  const since = later.map((step) => {
    const raw = step.amount - held;
    held = step.amount;
    return { slot: step.slot, raw };
  });
  return [...born, ...since];
}

function describeMove(move: WalletMove, random: Random) {
  const types = move.raw > 0n ? ['TRANSFER', 'SWAP', 'TOKEN_MINT'] : ['TRANSFER', 'SWAP', 'BURN'];
  const type = random.oneIn(2) ? 'TRANSFER' : random.pick(types);
  const price = BigInt(1 + random.below(1_000_000));
  const paid: WalletMove = { ...move, mint: -1, raw: move.raw > 0n ? -price : price };
  const direct = move.raw < 0n || type === 'SWAP';
  return {
    type,
    reach: direct ? ('direct' as const) : ('balance' as const),
    paysFee: direct,
    moves: type === 'SWAP' ? [move, paid] : [move],
  };
}

/** The oldest event of a wallet: 10 to 1,000 of the ledger's own token. */
function drawFunding(random: Random, outsiders: number) {
  const raw = BigInt(10 + random.below(990)) * 1_000_000_000n + BigInt(random.below(1_000_000_000));
  const slot = startSlot - 9_000_000 - random.below(1_000_000);
  const moves: WalletMove[] = [{ mint: -1, raw, counterparty: random.below(outsiders) }];
  return { slot, type: 'TRANSFER', reach: 'direct' as const, paysFee: false, failed: false, moves };
}

/** An event of any type, which moves a little of the ledger's own token, or fails. */
function drawOther(random: Random, turn: number, outsiders: number) {
  const failed = random.oneIn(12);
  const raw = BigInt(random.below(2_000_000)) - 1_000_000n;
  const isEmpty = failed || raw === 0n || random.oneIn(3);
  return {
    slot: startSlot - 1 - random.below(6_000_000),
    type: historyTypes[turn % historyTypes.length] as string,
    reach: 'direct' as const,
    paysFee: failed || raw < 0n,
    failed,
    moves: isEmpty ? [] : [{ mint: -1, raw, counterparty: random.below(outsiders) }],
  };
}

/** Spam: transactions shared by four wallets, which move nothing. */
function spamEvents(owner: number, keys: KeyTable, words: (index: number) => number): WalletEvent[] {
  const group = owner >>> 2;
  return Array.from({ length: words(group ^ 0x33333333) % 4 }, (_, n) => {
    const index = group * 4 + n;
    const slot = startSlot - 1 - (words(index ^ 0x0f0f0f0f) % 5_000_000);
    const what = { type: 'TRANSFER', reach: 'spam', paysFee: false, failed: false, timeless: false } as const;
    return { keys, index, slot, ...what, moves: [] };
  });
}

/** The compression transactions of a wallet; compressed tokens are in no balance. */
function compressionEvents(owner: number, { compression, signatures }: WalletEventParts): WalletEvent[] {
  return compression.transactionsOfOwner(owner).map((number) => {
    const { payer = -1 } = compression.history.transactions[number] ?? {};
    const paysFee = payer === owner;
    const slot = signatures.slotOf(number);
    const reach = paysFee ? 'direct' : 'spam';
    const what = { type: 'EXECUTE_TRANSACTION', reach, paysFee, failed: false, timeless: false } as const;
    return { keys: signatures.keys, index: number, slot, ...what, payer, moves: [] };
  });
}
