import { sortBy } from './key-table.ts';
import type { WorldAssets } from './world-assets.ts';

/** The `sortBy.sortBy` words of the asset lists. */
export const sortKeys = ['id', 'created', 'updated', 'recent_action', 'none'] as const;
export type SortKey = (typeof sortKeys)[number];

/** Lists live until the next tick, and so do their sorted forms. */
const made = new WeakMap<Uint32Array, Map<SortKey, Uint32Array>>();

/** The rows of an asset list in ascending order of a sort key; equal ones by id, `none` in no order that means anything. */
export function sortRows(assets: WorldAssets, rows: Uint32Array, key: SortKey): Uint32Array {
  const known = made.get(rows) ?? new Map<SortKey, Uint32Array>();
  made.set(rows, known);
  const sorted = known.get(key) ?? orderRows(assets, rows, key);
  known.set(key, sorted);
  return sorted;
}

function orderRows(assets: WorldAssets, rows: Uint32Array, key: SortKey): Uint32Array {
  if (key === 'id') return rows;
  if (key === 'none') return rows.slice().sort();
  const slotOf = key === 'created' ? assets.createdSlot : assets.updatedSlot;
  return sortBy(rows.length, (n) => slotOf(rows[n] as number)).map((n) => rows[n] as number);
}
