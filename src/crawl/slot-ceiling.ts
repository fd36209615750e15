/** What the data folder knows of its ledger's slots. */
export interface SlotHistory {
  /** The newest slot that an answer was believed, and when (Unix ms; null where that is not known); null: none ever. */
  newest: { slot: number; at: number | null } | null;
  /** How fast they go up. */
  perSecond: number;
}

/** How far an answer's slot may be above those before it. */
export interface SlotCeiling {
  /** Takes in what is known; what the run has seen itself stays. */
  learn(history: SlotHistory): void;
  /** The highest slot that an answer received at `now` (Unix ms) may say. */
  at(now: number): number;
  /** An answer that is believed said this slot. */
  saw(slot: number, now: number): void;
}

/** Slots of 400 ms, until the ledger's own rate is learnt. */
export const usualPerSecond = 2.5;

/** A ledger may be so many times as fast as it was, and so many slots ahead whatever the time. */
const mostTimes = 10;
const leastAhead = 100_000;
/** Ten years of slots: what may have passed since a time that is not known. */
const mostAhead = 800_000_000;
/** A hundred years of them: what a source may be at that was never seen. */
const mostAtFirst = 10_000_000_000;

/**
 * The highest slot that can be right at `now` (Unix ms). Newer wins, so one answer from the far future, taken at its word,
 * would keep out every later one. A time in the future was a wrong clock's, and counts as not known. Pure.
 */
export function highestSlot({ newest, perSecond }: SlotHistory, now: number): number {
  if (newest === null) return mostAtFirst;
  const { slot, at } = newest;
  if (at === null || at > now) return slot + mostAhead;
  const passed = Math.ceil(mostTimes * perSecond * ((now - at) / 1000));
  return slot + Math.min(mostAhead, Math.max(leastAhead, passed));
}

/** The ceiling of one run: it rises with the slots of the run's answers. */
export function createSlotCeiling(): SlotCeiling {
  let known: SlotHistory = { newest: null, perSecond: usualPerSecond };
  const isNewer = (slot: number) => known.newest === null || slot > known.newest.slot;
  return {
    learn({ newest, perSecond }) {
      known = { newest: newest !== null && isNewer(newest.slot) ? newest : known.newest, perSecond };
    },
    at: (now) => highestSlot(known, now),
    saw(slot, now) {
      if (isNewer(slot)) known = { ...known, newest: { slot, at: now } };
    },
  };
}
