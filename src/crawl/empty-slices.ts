/**
 * What a batch makes of answers without a record. A store that is down says of all ids that it does not know them, so such
 * an answer to more than one id is asked for again in two halves, and what they say is believed. Once both halves had
 * nothing either, the batch is taken to ask for ids that nobody knows, and later answers are believed at once: however
 * many ids, this costs two requests for each slice in flight.
 */
export interface EmptySlices {
  /** Whether to ask again, in parts, what a slice of so many ids was answered nothing to. */
  isDoubted(slice: number, ids: number): boolean;
  /** A slice is asked for again as these. */
  cut(parts: readonly number[]): void;
  /** A slice was answered, and that is believed. */
  answered(slice: number, records: number): void;
}

export function createEmptySlices(): EmptySlices {
  /** By slice that is a part: what is open of the slice that was cut. */
  const doubts = new Map<number, { open: number; found: boolean }>();
  let areUnknown = false;
  return {
    isDoubted: (slice, ids) => ids > 1 && !areUnknown && !doubts.has(slice),
    cut(parts) {
      const doubt = { open: parts.length, found: false };
      for (const part of parts) doubts.set(part, doubt);
    },
    answered(slice, records) {
      const doubt = doubts.get(slice);
      if (doubt === undefined) return;
      doubt.open -= 1;
      doubt.found ||= records > 0;
      areUnknown ||= doubt.open === 0 && !doubt.found;
    },
  };
}
