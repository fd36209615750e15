import type { Draw } from '../../support/random.ts';

/** The clock of one ledger, and which of its slots an answer comes from. */
export interface Replicas {
  now(): number;
  /** The slot moves on. False when nothing may change with it. */
  step(): boolean;
  /** The slot one answer reflects: the newest, or that of a replica that is behind. */
  answerAt(): number;
  /** From now on nothing changes but the slot, and no replica is behind. */
  calm(): void;
  isCalm(): boolean;
}

/** @param shares how many answers come from behind, of which one is drawn */
export function createReplicas(draw: Draw, first: number, shares: readonly number[]): Replicas {
  const share = draw.pick(shares);
  const most = draw.pick([2, 10, 50]);
  const stride = draw.pick([1, 1, 5]);
  let slot = first;
  let calm = false;
  return {
    now: () => slot,
    step() {
      slot += draw.between(1, stride);
      return !calm;
    },
    answerAt: () => (calm || !draw.chance(share) ? slot : Math.max(first, slot - draw.between(1, most))),
    calm() {
      calm = true;
    },
    isCalm: () => calm,
  };
}
