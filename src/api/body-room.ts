import type { Readable } from 'node:stream';

/** The place of one body. */
export interface BodyPlace {
  /** Counts what came. */
  take(bytes: number): void;
  /** It is whole, and waits for its page to be kept. */
  received(): void;
  /** Nobody needs it any more. */
  release(): void;
}

/** Memory that the bodies of all answers share, from their first byte until their pages are kept. */
export interface BodyRoom {
  /** @param onWait told when the body begins to wait for others, and when it goes on: its sender is not slow meanwhile */
  enter(body: Readable, onWait: (waits: boolean) => void): BodyPlace;
}

interface Receiving {
  body: Readable;
  waits: boolean;
  onWait(waits: boolean): void;
}

/**
 * Where all bodies together pass `maxBytes`, those that are being received wait. The oldest of them goes on as soon as
 * no page waits to be kept, so that waiting ends however large they are.
 */
export function createBodyRoom(maxBytes: number): BodyRoom {
  // In the order in which they began.
  const receiving = new Set<Receiving>();
  let held = 0;
  let unkept = 0;
  const settle = () => {
    const [oldest] = receiving;
    for (const one of receiving) {
      const waits = held > maxBytes && (one !== oldest || unkept > 0);
      if (waits === one.waits) continue;
      one.waits = waits;
      one.onWait(waits);
      if (waits) one.body.pause();
      else one.body.resume();
    }
  };
  return {
    enter(body, onWait) {
      const one: Receiving = { body, waits: false, onWait };
      let own = 0;
      receiving.add(one);
      const place: BodyPlace = {
        take(bytes) {
          own += bytes;
          held += bytes;
          if (held > maxBytes) settle();
        },
        received() {
          receiving.delete(one);
          unkept += 1;
          settle();
        },
        release() {
          if (!receiving.delete(one)) unkept -= 1;
          held -= own;
          settle();
          // A second time it gives back nothing.
          place.release = () => {};
        },
      };
      return place;
    },
  };
}
