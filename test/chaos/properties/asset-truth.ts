import { type Draw, drawAddress } from '../../support/random.ts';

/** Where an asset is: in the list, in another collection, burnt, or unknown to everybody. */
export type Whereabouts = 'listed' | 'elsewhere' | 'burnt' | 'gone';

export interface AssetState {
  owner: string;
  name: string;
  where: Whereabouts;
}

export interface Version extends AssetState {
  /** It began with this slot. */
  slot: number;
}

/** Everything that ever was true of the assets of one ledger. */
export interface AssetTruth {
  ids(): string[];
  has(id: string): boolean;
  /** Null before it was made. */
  stateAt(id: string, slot: number): Version | null;
  isListedThroughout(id: string, from: number, to: number): boolean;
  /** Newest id first. */
  listedAt(slot: number): string[];
  create(slot: number): void;
  /** One thing happens: an asset is made, sold, renamed, burnt, moved out of the list or back into it. */
  change(slot: number): void;
}

/** More assets than this are hardly ever made. */
const enough = 60;

export function createAssetTruth(draw: Draw): AssetTruth {
  const versions = new Map<string, Version[]>();
  const stateAt = (id: string, slot: number) => versions.get(id)?.findLast((v) => v.slot <= slot) ?? null;
  const create = (slot: number) => {
    const made: Version = { slot, owner: drawAddress(draw), name: draw.base58(6), where: 'listed' };
    versions.set(drawAddress(draw), [made]);
  };
  return {
    ids: () => [...versions.keys()],
    has: (id) => versions.has(id),
    stateAt,
    isListedThroughout: (id, from, to) =>
      stateAt(id, from)?.where === 'listed' &&
      versions.get(id)!.every(({ slot, where }) => slot <= from || slot > to || where === 'listed'),
    listedAt: (slot) =>
      [...versions.keys()]
        .filter((id) => stateAt(id, slot)?.where === 'listed')
        .sort((a, b) => (a < b ? 1 : -1)),
    create,
    change(slot) {
      if (versions.size === 0 || draw.chance(versions.size < enough ? 0.3 : 0.05)) {
        create(slot);
        return;
      }
      const [id, history] = draw.pick([...versions]);
      const last = history.at(-1)!;
      if (last.where === 'burnt') return;
      // Answers show a slot only when it is over: of several changes in it the last one counts.
      const before = history.filter((version) => version.slot < slot);
      versions.set(id, [...before, { ...last, ...drawChange(draw, last), slot }]);
    },
  };
}

function drawChange(draw: Draw, { where }: AssetState): Partial<AssetState> {
  if (draw.chance(0.3)) return { owner: drawAddress(draw) };
  if (draw.chance(0.2)) return { name: draw.base58(6) };
  const leaves = ['elsewhere', 'elsewhere', 'burnt', 'gone'] as const;
  return { where: where === 'listed' ? draw.pick(leaves) : 'listed' };
}
