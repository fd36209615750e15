import { mintIndex, startSlot } from './asset-traits.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { groupRows } from './memory.ts';
import { hashStream, Random, skewed } from './random.ts';

/** The changes of a token account since the world was made. */
interface TokenAccountChange {
  /** Slot of its opening; undefined for an initial account. */
  openedSlot?: number;
  /** One slot for each transfer. */
  slots: readonly number[];
  closed: boolean;
}

/** An amount of a token account, from a slot on. */
export interface AmountStep {
  slot: number;
  amount: bigint;
}

/** The current state of a token account; the amounts are exact. */
export interface TokenAccountState {
  index: number;
  mint: number;
  owner: number;
  amount: bigint;
  delegatedAmount: bigint;
  frozen: boolean;
  updatedSlot: number;
}

/** Every token account, numbered from 0; closed ones keep their number and are in no list. */
export interface WorldTokenAccounts {
  readonly keys: KeyTable;
  /** Mints in use; mint n is the asset with the index `mintIndex(n)`. */
  readonly mintCount: number;
  state(index: number): TokenAccountState;
  isClosed(index: number): boolean;
  /** The number of a mint by its address, or -1. */
  findMint(address: string): number;
  /** Open accounts, ascending by address. The answer holds until the next tick. */
  ofOwner(owner: number): Uint32Array;
  ofMint(mint: number): Uint32Array;
  /** Accounts of an owner that were ever open. */
  everOfOwner(owner: number): Uint32Array;
  /** Its amounts, oldest first: at its opening (or the world's start), then after each transfer. */
  amountSteps(index: number): AmountStep[];
  /** Whether it was opened by a tick. */
  isNew(index: number): boolean;
  /** Moves about one account in a hundred; each change gets a slot from `slotAt`. */
  tick(ticks: number, slotAt: (random: Random) => number): void;
  /** The record as one line of JSON text. */
  write(index: number): string;
}

export interface TokenAccountCounts {
  assets: number;
  owners: number;
  quirks: boolean;
}

type TokenAccountChanges = Map<number, TokenAccountChange>;

const untouched: TokenAccountChange = { slots: [], closed: false };

/** Address texts of owners and of assets (mints are assets), by number. */
export interface AddressNames {
  owner(owner: number): string;
  asset(asset: number): string;
}

export function createWorldTokenAccounts(
  seed: number,
  counts: TokenAccountCounts,
  names: AddressNames,
): WorldTokenAccounts {
  const traits = createAccountTraits(seed, counts);
  const keys = createKeyTable(seed, 'token-account', traits.count);
  const tickWords = hashStream(seed, 'token-account-tick');
  const changes: TokenAccountChanges = new Map();
  const isClosed = (index: number) => changes.get(index)?.closed ?? false;
  const owned = groupRows(keys, counts.owners, traits.ownerOf, isClosed);
  const ever = groupRows(keys, counts.owners, traits.ownerOf, () => false);
  const minted = groupRows(keys, traits.mintCount, traits.mintOf, isClosed);
  const state = (index: number) => stateOf(traits, index, changes.get(index) ?? untouched);
  const mintNumbers = new Map(
    Array.from({ length: traits.mintCount }, (_, mint) => [names.asset(mintIndex(mint)), mint]),
  );
  return {
    keys,
    mintCount: traits.mintCount,
    state,
    isClosed,
    findMint: (address) => mintNumbers.get(address) ?? -1,
    ofOwner: owned.rows,
    ofMint: minted.rows,
    everOfOwner: ever.rows,
    amountSteps: (index) => listSteps(traits, index, changes.get(index) ?? untouched),
    isNew: (index) => index >= traits.count,
    tick(ticks, slotAt) {
      const random = new Random(tickWords(ticks));
      keys.grow(changeAccounts(keys.size, changes, random, slotAt));
      owned.forget();
      ever.forget();
      minted.forget();
    },
    write: (index) => recordText(state(index), keys.text(index), names, counts.quirks),
  };
}

/** Initial properties of token accounts, a function of their numbers. */
interface AccountTraits {
  /** Their number before the first tick. */
  count: number;
  mintCount: number;
  /** Whether some amounts are above 2^53. */
  large: boolean;
  ownerOf(index: number): number;
  mintOf(index: number): number;
  /** Random values for an account after a number of transfers. */
  random(index: number, transfers: number): Random;
  firstSlotOf(index: number): number;
}

function createAccountTraits(seed: number, counts: TokenAccountCounts): AccountTraits {
  const holders = hashStream(seed, 'token-account-owner');
  const mints = hashStream(seed, 'token-account-mint');
  const details = hashStream(seed, 'token-account-details');
  const ordinary = Math.floor(counts.owners * 1.5);
  // The first owner holds enough for several pages of one owner.
  const hoard = Math.min(2500, Math.ceil(counts.owners / 2));
  const mintCount = Math.min(400, Math.max(1, Math.floor(counts.assets / 10)));
  return {
    count: ordinary + hoard,
    mintCount,
    large: counts.quirks,
    ownerOf: (index) => (index >= ordinary && index < ordinary + hoard ? 0 : holders(index) % counts.owners),
    mintOf: (index) => skewed(mints(index), mintCount, 3),
    random: (index, transfers) => new Random(details((index + Math.imul(transfers, 0x9e3779b1)) | 0)),
    firstSlotOf: (index) => startSlot - 1 - (details(index) % 5_000_000),
  };
}

/** About one account in a hundred changes, a tenth of those closes; returns how many new ones appear. */
function changeAccounts(
  size: number,
  changes: TokenAccountChanges,
  random: Random,
  slotAt: (random: Random) => number,
): number {
  for (let n = Math.ceil(size / 100); n > 0; n -= 1) {
    const index = random.below(size);
    const change = changes.get(index) ?? untouched;
    if (change.closed) continue;
    const slot = Math.max(slotAt(random), change.slots.at(-1) ?? 0);
    changes.set(index, { ...change, slots: [...change.slots, slot], closed: random.oneIn(10) });
  }
  const opened = Math.ceil(size / 500);
  for (let n = 0; n < opened; n += 1) {
    changes.set(size + n, { ...untouched, openedSlot: slotAt(random) });
  }
  return opened;
}

function stateOf(traits: AccountTraits, index: number, change: TokenAccountChange): TokenAccountState {
  const random = traits.random(index, change.slots.length);
  const amount = drawAmount(traits, random);
  const delegated = amount > 0n && random.oneIn(12);
  return {
    index,
    mint: traits.mintOf(index),
    owner: traits.ownerOf(index),
    amount,
    delegatedAmount: delegated ? amount / 2n : 0n,
    frozen: random.oneIn(40),
    updatedSlot: change.slots.at(-1) ?? change.openedSlot ?? traits.firstSlotOf(index),
  };
}

function drawAmount(traits: AccountTraits, random: Random): bigint {
  const ordinary = random.u64() >> BigInt(20 + random.below(30));
  const dice = random.below(1000);
  if (dice < 60) return 0n;
  if (dice < 70 && traits.large) return random.u64();
  return dice < 72 && traits.large ? 2n ** 64n - 1n : ordinary;
}

/** The last amount of a closed account is 0. */
function listSteps(traits: AccountTraits, index: number, change: TokenAccountChange): AmountStep[] {
  const amountAfter = (transfers: number) => drawAmount(traits, traits.random(index, transfers));
  const first = { slot: change.openedSlot ?? traits.firstSlotOf(index), amount: amountAfter(0) };
  const last = change.slots.length - 1;
  const later = change.slots.map((slot, n) => ({
    slot,
    amount: change.closed && n === last ? 0n : amountAfter(n + 1),
  }));
  return [first, ...later];
}

function recordText(state: TokenAccountState, address: string, names: AddressNames, quirks: boolean): string {
  const asText = quirks && state.index % 97 === 5;
  const amount = asText ? `"${state.amount}"` : `${state.amount}`;
  const burnt = quirks ? ['', ',"burnt":false', ',"burnt":null', ''][state.index % 4] : ',"burnt":false';
  const extra = quirks && state.index % 61 === 7 ? ',"token_extensions":{"memo_transfer":true}' : '';
  return (
    `{"address":"${address}","mint":"${names.asset(mintIndex(state.mint))}","owner":"${names.owner(state.owner)}",` +
    `"amount":${amount},"delegated_amount":${state.delegatedAmount},"frozen":${state.frozen}${burnt}${extra}}`
  );
}
