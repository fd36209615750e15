/** Ten years of slots of 400 ms: no source is so far above what it was last seen at. */
const mostAhead = 800_000_000;
/** A hundred years of them: what a source may be at that was never seen. */
const mostAtFirst = 10_000_000_000;

/**
 * The highest slot an answer may say it reflects. Newer wins, so an answer from the far future, taken at its word, would
 * keep out every later one.
 * @param highest the highest slot the data folder has seen; null when it has seen none
 */
export function slotCeiling(highest: number | null): number {
  return highest === null ? mostAtFirst : highest + mostAhead;
}
