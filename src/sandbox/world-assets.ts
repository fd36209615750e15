import { type AssetKind, type AssetTraits, type CreatorShare, createAssetTraits } from './asset-traits.ts';
import { createKeyTable, type KeyTable } from './key-table.ts';
import { hashStream, Random } from './random.ts';

/** The changes of an asset since the world was made; unchanged assets have none. */
interface AssetChange {
  slot: number;
  /** Set for assets minted since. */
  createdSlot?: number;
  owner?: number;
  collection?: number;
  burnt?: boolean;
  /** How often it was renamed, its leaf rewritten, its creators rotated, its supply raised. */
  renames: number;
  rewrites: number;
  turns: number;
  issues: number;
}

type AssetChanges = Map<number, AssetChange>;

/** The current state of an asset; `createAssetWriter` turns it into a record. */
export interface AssetState {
  index: number;
  kind: AssetKind;
  /** Null for fungible assets and half of the burnt ones: their records name no owner. */
  owner: number | null;
  collection: number;
  creators: CreatorShare[];
  burnt: boolean;
  createdSlot: number;
  updatedSlot: number;
  renames: number;
  rewrites: number;
  issues: number;
}

/** Every asset of the world, numbered from 0; a million cost a few bytes each. */
export interface WorldAssets {
  readonly keys: KeyTable;
  readonly traits: AssetTraits;
  readonly collectionKeys: KeyTable;
  readonly creatorKeys: KeyTable;
  /** Counts the ticks; prices are a function of it. */
  readonly priceVersion: number;
  state(index: number): AssetState;
  isBurnt(index: number): boolean;
  /** Its owner, or the last one before it was burnt; meaningless for a fungible asset. */
  ownerOf(index: number): number;
  createdSlot(index: number): number;
  updatedSlot(index: number): number;
  /** How often the leaf of a compressed asset was written again. */
  rewrites(index: number): number;
  /** Burnt ones included, ascending by id. The answer holds until the next tick. */
  inCollection(collection: number): Uint32Array;
  byCreator(creator: number, onlyVerified: boolean): Uint32Array;
  /** Moves content: transfers, renames, burns, mints; each change gets a slot from `slotAt`. */
  tick(ticks: number, slotAt: (random: Random) => number): void;
}

export interface AssetCounts {
  assets: number;
  owners: number;
  collections: number;
  creators: number;
  quirks: boolean;
}

const untouched: AssetChange = { slot: 0, renames: 0, rewrites: 0, turns: 0, issues: 0 };

export function createWorldAssets(seed: number, counts: AssetCounts): WorldAssets {
  const keys = createKeyTable(seed, 'asset', counts.assets);
  const traits = createAssetTraits(seed, counts);
  const changes: AssetChanges = new Map();
  const lists = new Map<string, Uint32Array>();
  const tickWords = hashStream(seed, 'asset-tick');
  const collectionOf = (index: number) => changes.get(index)?.collection ?? traits.collectionOf(index);
  const list = (name: string, holds: (index: number) => boolean) => {
    const rows = lists.get(name) ?? keys.order().filter(holds);
    lists.set(name, rows);
    return rows;
  };
  let priceVersion = 0;
  return {
    keys,
    traits,
    collectionKeys: createKeyTable(seed, 'collection', counts.collections),
    creatorKeys: createKeyTable(seed, 'creator', counts.creators),
    get priceVersion() {
      return priceVersion;
    },
    state: (index) => stateOf(traits, index, changes.get(index) ?? untouched),
    ownerOf: (index) => changes.get(index)?.owner ?? traits.ownerOf(index),
    createdSlot: (index) => changes.get(index)?.createdSlot ?? traits.createdSlotOf(index),
    updatedSlot: (index) => changes.get(index)?.slot ?? traits.updatedSlotOf(index),
    rewrites: (index) => changes.get(index)?.rewrites ?? 0,
    isBurnt: (index) => changes.get(index)?.burnt ?? traits.burntAtStart(index),
    inCollection: (collection) =>
      list(`collection ${collection}`, (index) => collectionOf(index) === collection),
    byCreator: (creator, onlyVerified) =>
      list(`creator ${creator} ${onlyVerified}`, (index) =>
        traits
          .creatorsOf(index)
          .some((share) => share.creator === creator && (share.verified || !onlyVerified)),
      ),
    tick(ticks, slotAt) {
      priceVersion = ticks;
      lists.clear();
      const random = new Random(tickWords(ticks));
      changeAssets({ size: keys.size, traits, changes, counts }, random, slotAt);
      keys.grow(mintAssets(keys.size, changes, () => slotAt(random)));
    },
  };
}

/** About one asset in a hundred changes; burnt ones and specimens do not. */
function changeAssets(
  of: { size: number; traits: AssetTraits; changes: AssetChanges; counts: AssetCounts },
  random: Random,
  slotAt: (random: Random) => number,
): void {
  for (let n = Math.ceil(of.size / 100); n > 0; n -= 1) {
    const index = random.below(of.size);
    const change = of.changes.get(index) ?? untouched;
    if (of.traits.specimen(index) !== undefined) continue;
    if (change.burnt ?? of.traits.burntAtStart(index)) continue;
    const moved = { ...change, slot: slotAt(random) };
    moveAsset(moved, of.traits.kindOf(index), random, of.counts);
    of.changes.set(index, moved);
  }
}

/** Mints one asset per thousand existing ones; returns how many. */
function mintAssets(size: number, changes: AssetChanges, nextSlot: () => number): number {
  const minted = Math.ceil(size / 1000);
  for (let n = 0; n < minted; n += 1) {
    const slot = nextSlot();
    changes.set(size + n, { ...untouched, slot, createdSlot: slot, burnt: false });
  }
  return minted;
}

function moveAsset(change: AssetChange, kind: AssetKind, random: Random, counts: AssetCounts): void {
  const dice = random.below(100);
  if (kind === 'fungible') {
    if (dice < 70) change.issues += 1;
    else change.renames += 1;
  } else if (dice < 50) change.owner = random.below(counts.owners);
  else if (dice < 72) change.renames += 1;
  else if (dice < 84) change.rewrites += 1;
  else if (dice < 94) change.burnt = true;
  else if (dice < 97) change.collection = random.below(counts.collections);
  else change.turns += 1;
  // Every change of a compressed asset rewrites its leaf, which counts up `seq`.
  if (kind === 'compressed') change.rewrites += 1;
}

function stateOf(traits: AssetTraits, index: number, change: AssetChange): AssetState {
  const creators = traits.creatorsOf(index);
  const turn = creators.length === 0 ? 0 : change.turns % creators.length;
  const kind = traits.kindOf(index);
  const burnt = change.burnt ?? traits.burntAtStart(index);
  const ownerless = kind === 'fungible' || (burnt && index % 2 === 0);
  return {
    index,
    kind,
    owner: ownerless ? null : (change.owner ?? traits.ownerOf(index)),
    collection: change.collection ?? traits.collectionOf(index),
    creators: [...creators.slice(turn), ...creators.slice(0, turn)],
    burnt,
    createdSlot: change.createdSlot ?? traits.createdSlotOf(index),
    updatedSlot: change.slot === 0 ? traits.updatedSlotOf(index) : change.slot,
    renames: change.renames,
    rewrites: change.rewrites,
    issues: change.issues,
  };
}
