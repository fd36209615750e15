import { type Draw, drawAddress } from '../../support/random.ts';

export interface TokenAccount {
  address: string;
  mint: string;
  owner: string;
  /** Digits of a u64. */
  amount: string;
}

export interface Asset {
  id: string;
  owner: string;
  collection: string;
  burnt: boolean;
  name: string;
  /** Digits of a u64. */
  supply: string;
  /** Slot of its last change. */
  changedAt: number;
}

export interface Signature {
  signature: string;
  slot: number;
}

/** A ledger as it was from one slot to before the next. Never changed once it is there. */
export interface LedgerState {
  readonly slot: number;
  readonly accounts: ReadonlyMap<string, TokenAccount>;
  readonly assets: ReadonlyMap<string, Asset>;
  /** Newest first. */
  readonly signatures: readonly Signature[];
}

/** A small ledger with all of its past. */
export interface Ledger {
  /** Owners whose accounts are crawled, and one nobody asks for. */
  readonly owners: readonly string[];
  readonly stranger: string;
  readonly mints: readonly string[];
  /** Collections that are crawled, and one nobody asks for. */
  readonly collections: readonly string[];
  readonly elsewhere: string;
  /** Whose signatures there are. */
  readonly address: string;
  now(): LedgerState;
  at(slot: number): LedgerState;
  /** The slot moves on; nothing else does. */
  pass(slots: number): void;
  /** So many changes, all at one slot. @returns them in words */
  change(draw: Draw, count: number): string[];
  /** Most accounts of an owner are closed at once. @returns whose */
  closeMost(draw: Draw): string;
}

const firstSlot = 1000;

/** @param accounts how many there are at first; of assets there are 40 */
export function createLedger(draw: Draw, accounts: number): Ledger {
  const addresses = (count: number) => Array.from({ length: count }, () => drawAddress(draw));
  const [owners, mints, collections] = [addresses(3), addresses(2), addresses(2)];
  const [stranger, elsewhere, address] = [drawAddress(draw), drawAddress(draw), drawAddress(draw)];
  const places = { owners: [...owners, stranger], mints, collections: [...collections, elsewhere] };
  const states: LedgerState[] = [{ slot: firstSlot, accounts: new Map(), assets: new Map(), signatures: [] }];
  const now = () => states.at(-1)!;
  const move = (work: (next: Draft) => string[]): string[] => {
    const { accounts, assets, signatures, slot } = now();
    const next: Draft = {
      ...{ slot: slot + 1, accounts: new Map(accounts), assets: new Map(assets) },
      signatures: [...signatures],
    };
    const done = work(next);
    states.push(next);
    return done;
  };
  move((next) => {
    for (let n = 0; n < accounts; n += 1) openAccount(draw, next, places);
    for (let n = 0; n < 40; n += 1) mintAsset(draw, next, places);
    for (let n = 0; n < 10; n += 1) sign(draw, next, places);
    return [];
  });
  return {
    ...{ owners, stranger, mints, collections, elsewhere, address, now },
    at: (slot) => states.findLast((state) => state.slot <= slot) ?? states[0]!,
    pass: (slots) => states.push({ ...now(), slot: now().slot + slots }),
    change: (by, count) =>
      move((next) => Array.from({ length: count }, () => by.pick(changes)(by, next, places))),
    closeMost(by) {
      const owner = by.pick(owners);
      move((next) => {
        const own = [...next.accounts.values()].filter((account) => account.owner === owner);
        for (const { address } of own.slice(3)) next.accounts.delete(address);
        return [];
      });
      return owner;
    },
  };
}

interface Draft {
  slot: number;
  accounts: Map<string, TokenAccount>;
  assets: Map<string, Asset>;
  signatures: Signature[];
}

interface Places {
  owners: readonly string[];
  mints: readonly string[];
  collections: readonly string[];
}

type Change = (draw: Draw, next: Draft, places: Places) => string;

const openAccount: Change = (draw, { accounts }, { owners, mints }) => {
  const address = drawAddress(draw);
  const [mint, owner, amount] = [draw.pick(mints), draw.pick(owners), drawAmount(draw)];
  accounts.set(address, { address, mint, owner, amount });
  return `opens ${address.slice(0, 6)}`;
};

const mintAsset: Change = (draw, { assets, slot }, { owners, collections }) => {
  const id = drawAddress(draw);
  assets.set(id, {
    ...{ id, owner: draw.pick(owners), collection: draw.pick(collections), burnt: false },
    ...{ name: `n${draw.between(0, 9)}`, supply: drawAmount(draw), changedAt: slot },
  });
  return `mints ${id.slice(0, 6)}`;
};

const sign: Change = (draw, { signatures, slot }) => {
  const made = Array.from({ length: draw.between(1, 4) }, () => ({ signature: draw.base58(88), slot }));
  signatures.unshift(...made);
  return `signs ${made.length}`;
};

/** A change of one account that there is; none where there are none. */
function changeAccount(
  what: string,
  change: (account: TokenAccount, draw: Draw, places: Places) => TokenAccount,
): Change {
  return (draw, { accounts }, places) => {
    if (accounts.size === 0) return 'nothing';
    const account = draw.pick([...accounts.values()]);
    accounts.set(account.address, change(account, draw, places));
    return `${what} ${account.address.slice(0, 6)}`;
  };
}

/** Likewise of an asset. */
function changeAsset(
  what: string,
  change: (asset: Asset, draw: Draw, places: Places) => Partial<Asset>,
): Change {
  return (draw, { assets, slot }, places) => {
    if (assets.size === 0) return 'nothing';
    const asset = draw.pick([...assets.values()]);
    assets.set(asset.id, { ...asset, ...change(asset, draw, places), changedAt: slot });
    return `${what} ${asset.id.slice(0, 6)}`;
  };
}

const changes: readonly Change[] = [
  openAccount,
  mintAsset,
  sign,
  (draw, { accounts }) => {
    const address = draw.pick([...accounts.keys(), '']);
    accounts.delete(address);
    return `closes ${address.slice(0, 6)}`;
  },
  (draw, { assets }) => {
    const id = draw.pick([...assets.keys(), '']);
    assets.delete(id);
    return `removes ${id.slice(0, 6)}`;
  },
  changeAccount('pays', (account, draw) => ({ ...account, amount: drawAmount(draw) })),
  changeAccount('hands over', (account, draw, { owners }) => ({ ...account, owner: draw.pick(owners) })),
  changeAsset('sells', (_, draw, { owners }) => ({ owner: draw.pick(owners) })),
  changeAsset('regroups', (_, draw, { collections }) => ({ collection: draw.pick(collections) })),
  changeAsset('burns', () => ({ burnt: true })),
  changeAsset('renames', (_, draw) => ({ name: `n${draw.between(0, 9)}` })),
  changeAsset('issues', (_, draw) => ({ supply: drawAmount(draw) })),
];

/** A u64: small, zero, the largest, and such that a double cannot hold. */
function drawAmount(draw: Draw): string {
  const large = 2n ** 53n + 1n + 2n * BigInt(draw.between(0, 1e6));
  const any = BigInt(draw.between(0, 2 ** 32 - 1)) * BigInt(draw.between(0, 2 ** 32 - 1));
  return String(draw.pick([draw.between(1, 1000), 0, 2n ** 64n - 1n, large, any]));
}
