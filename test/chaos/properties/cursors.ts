import type { Draw } from '../../support/random.ts';
import { InvalidParams } from '../../support/scripted-api.ts';
import type { Replicas } from './replicas.ts';

/** The cursors of one ledger: where its API keeps them, and for how long. */
export interface Cursors {
  /** Whether any is refused before its walk is over. */
  readonly expire: boolean;
  write(place: string): string;
  /** @throws InvalidParams */
  read(cursor: string): string;
  /** A night has passed. */
  sleep(): void;
}

/** Whether ledgers may refuse their own cursors. */
const mayExpire = true;

export function createCursors(draw: Draw, replicas: Replicas): Cursors {
  const opaque = draw.chance(0.5);
  const life = draw.pick(['long', 'long', 'a night', 'chance'] as const);
  const expire = mayExpire && life !== 'long';
  const issued = new Map<string, number>();
  let night = 0;
  return {
    expire,
    write(place) {
      const cursor = opaque ? Buffer.from(place).toString('base64url') : place;
      issued.set(cursor, night);
      return cursor;
    },
    read(cursor) {
      const isOld = life === 'a night' && issued.get(cursor) !== night;
      const isForgotten = life === 'chance' && !replicas.isCalm() && draw.chance(0.1);
      if (expire && (isOld || isForgotten)) throw new InvalidParams('Invalid cursor');
      return opaque ? Buffer.from(cursor, 'base64url').toString() : cursor;
    },
    sleep() {
      night += 1;
    },
  };
}
