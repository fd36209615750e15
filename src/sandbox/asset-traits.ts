import { type Specimen, specimenAt } from './asset-specimens.ts';
import { hashStream, Random, skewed } from './random.ts';

/** What decides the shape of an asset's record. */
export type AssetKind = 'compressed' | 'programmable' | 'plain' | 'core' | 'fungible';

/** One of the world's few creators, by number. */
export interface CreatorShare {
  creator: number;
  share: number;
  verified: boolean;
}

/** Slot of the newly generated world; everything in it happened before. */
export const startSlot = 300_000_000;
/** How many creators the world has. */
export const creatorCount = 6;

/** Initial properties of an asset, a function of its index; `AssetChange` has its changes. */
export interface AssetTraits {
  kindOf(index: number): AssetKind;
  collectionOf(index: number): number;
  creatorsOf(index: number): CreatorShare[];
  ownerOf(index: number): number;
  burntAtStart(index: number): boolean;
  createdSlotOf(index: number): number;
  updatedSlotOf(index: number): number;
  /** True for the third of the assets whose content the lists leave out. */
  hidesContent(index: number): boolean;
  /** Random values for one part of the asset's record; `version` gives others. */
  random(index: number, part: keyof typeof parts, version?: number): Random;
  /** The oddities of a specimen; undefined for an ordinary asset, and without quirks. */
  specimen(index: number): Specimen | undefined;
}

const parts = { content: 1, body: 2, token: 3, price: 4 } as const;

/** Every tenth asset is fungible; its id is the mint of token accounts. */
export function mintIndex(mint: number): number {
  return mint * 10 + 7;
}

export function createAssetTraits(
  seed: number,
  { owners, collections, quirks }: { owners: number; collections: number; quirks: boolean },
): AssetTraits {
  const kinds = hashStream(seed, 'asset-kind');
  const groups = hashStream(seed, 'asset-collection');
  const creators = hashStream(seed, 'asset-creators');
  const holders = hashStream(seed, 'asset-owner');
  const fates = hashStream(seed, 'asset-fate');
  const births = hashStream(seed, 'asset-created');
  const details = hashStream(seed, 'asset-details');
  const collectionOf = (index: number) => skewed(groups(index), collections, 1.4);
  const kindOf = (index: number) => (index % 10 === 7 ? 'fungible' : nonFungibleKind(kinds(index)));
  const createdSlotOf = (index: number) => startSlot - 1_000_000 - (births(index) % 40_000_000);
  return {
    kindOf,
    collectionOf,
    creatorsOf: (index) => shareOut(new Random(creators(index)), collectionOf(index) % creatorCount),
    ownerOf: (index) => skewed(holders(index), owners, 1.6),
    burntAtStart: (index) => fates(index) % 200 === 1 && kindOf(index) !== 'fungible',
    createdSlotOf,
    updatedSlotOf: (index) => createdSlotOf(index) + (fates(index) % 1_000_000),
    hidesContent: (index) => fates(index) % 3 === 0,
    random: (index, part, version = 0) =>
      new Random(details((index + version * 0x9e3779b1) | 0) ^ Math.imul(parts[part], 0x85ebca6b), quirks),
    specimen: (index) => (quirks ? specimenAt(index) : undefined),
  };
}

function nonFungibleKind(word: number): AssetKind {
  const share = word % 100;
  if (share < 45) return 'compressed';
  if (share < 67) return 'programmable';
  return share < 89 ? 'plain' : 'core';
}

function shareOut(random: Random, first: number): CreatorShare[] {
  const count = random.oneIn(20) ? 0 : 1 + random.below(3);
  // A step of 3 brings the first creator back as the third: duplicates occur in real records.
  const step = 1 + random.below(creatorCount - 2);
  const shares: CreatorShare[] = [];
  let rest = 100;
  for (let n = 0; n < count; n += 1) {
    const share = n === count - 1 ? rest : random.below(rest + 1);
    rest -= share;
    shares.push({
      creator: (first + n * step) % creatorCount,
      share,
      verified: n === 0 ? !random.oneIn(10) : random.oneIn(3),
    });
  }
  return shares;
}
