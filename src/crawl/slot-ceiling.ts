import type { Transport } from '../operations/operation.ts';

/** The ledger's slots as the data folder recorded them. */
export interface SlotHistory {
  /** The newest slot that was believed, and when it was received (Unix ms; null: unknown); null: none ever was. */
  newest: { slot: number; at: number | null } | null;
  /** Slots a second. */
  perSecond: number;
}

/** How high the slot of an answer may be: a source that is wrong once must not keep out every later answer. */
export interface SlotCeiling {
  /** Takes in what the folder recorded; newer slots of this run stay. */
  learn(history: SlotHistory): void;
  /** The highest slot that an answer received at `now` (Unix ms) may have. */
  at(now: number): number;
  /** An answer with this slot was believed; `from`: the interface that gave it in this run. */
  saw(slot: number, now: number, from?: Transport): void;
  /** The slots of this run's answers of an interface. */
  heard(from: Transport): HeardSlots;
}

export interface HeardSlots {
  newest: number;
  answers: number;
}

/** Slots of 400 ms, until the ledger's own rate is known. */
export const usualPerSecond = 2.5;

/** How many times faster than before a ledger may become. */
const maxSpeedup = 10;
/** Slots that an answer may always be ahead, however little time has passed. */
const minAhead = 100_000;
/** Ten years of slots: how far ahead an answer may be where the time of the last slot is unknown. */
const maxAhead = 800_000_000;
/** A hundred years of slots: the ceiling of a source that was never seen. */
const firstCeiling = 10_000_000_000;

/**
 * The highest slot that can be right at `now` (Unix ms). Newer wins, so one answer from the far future would keep out
 * every later one. A time in the future came from a wrong clock, and counts as unknown. Pure.
 */
export function highestSlot({ newest, perSecond }: SlotHistory, now: number): number {
  if (newest === null) return firstCeiling;
  const { slot, at } = newest;
  if (at === null || at > now) return slot + maxAhead;
  const passed = Math.ceil(maxSpeedup * perSecond * ((now - at) / 1000));
  return slot + Math.min(maxAhead, Math.max(minAhead, passed));
}

/** The ceiling of one run: it rises with the slots of the run's answers. */
export function createSlotCeiling(): SlotCeiling {
  let history: SlotHistory = { newest: null, perSecond: usualPerSecond };
  const heard = new Map<Transport, HeardSlots>();
  const heardFrom = (from: Transport) => heard.get(from) ?? { newest: 0, answers: 0 };
  const isNewer = (slot: number) => history.newest === null || slot > history.newest.slot;
  return {
    learn({ newest, perSecond }) {
      history = { newest: newest !== null && isNewer(newest.slot) ? newest : history.newest, perSecond };
    },
    at: (now) => highestSlot(history, now),
    heard: heardFrom,
    saw(slot, now, from) {
      if (from !== undefined) {
        const { newest, answers } = heardFrom(from);
        heard.set(from, { newest: Math.max(newest, slot), answers: answers + 1 });
      }
      if (isNewer(slot)) history = { ...history, newest: { slot, at: now } };
    },
  };
}
