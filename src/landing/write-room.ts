/**
 * What is written next, in one buffer that every write uses again: one of its own for each page would be half of what
 * the crawl asks the system for, and most of what is given back again.
 */
export interface WriteRoom {
  /** The place behind what was allocated since the last `clear`. */
  allocate(length: number): Buffer;
  /** All that was allocated, in one piece. Stands until `clear`. */
  written(): Buffer;
  clear(): void;
}

/** @param keptBytes a larger buffer is not kept for the next write */
export function createWriteRoom(keptBytes: number): WriteRoom {
  let room = Buffer.alloc(0);
  let used = 0;
  return {
    allocate(length) {
      if (used + length > room.length) {
        const wider = Buffer.allocUnsafeSlow(Math.max(used + length, 2 * room.length));
        room.copy(wider, 0, 0, used);
        room = wider;
      }
      used += length;
      return room.subarray(used - length, used);
    },
    written: () => room.subarray(0, used),
    clear() {
      used = 0;
      if (room.length > keptBytes) room = Buffer.alloc(0);
    },
  };
}
