/** The server answers in circles: going on would pay for the same page for ever. Fails the target. */
export class PagingLoop extends Error {}

/** An answer says a slot that cannot be right yet; believed, it would keep out every later one. Fails the target. */
export class SlotAhead extends Error {}

/** A newest-first feed whose pages are in no order: nothing says how far down they reach. Fails the target. */
export class FeedDisorder extends Error {}

/** The answer cannot be gone on from, and taking it for the last page would lose the rest. Fails the target. */
export class BrokenCursor extends Error {}

/** An answer holds ids from outside what was asked for, or in another order. Fails the target where no restart helps. */
export class BoundsIgnored extends Error {
  /** Whether it is the bound that lies ahead that was passed: the source may keep to the other one only. */
  readonly isPassed: boolean;

  constructor(isPassed: boolean) {
    super('the API gave ids from outside the range it was asked for, or in another order');
    this.isPassed = isPassed;
  }
}

/** The source cannot give a range of ids in order: the target is walked whole. */
export class RangesRefused extends Error {}
