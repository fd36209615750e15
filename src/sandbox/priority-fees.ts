import { hash } from 'node:crypto';
import { Random } from './random.ts';

/** Micro-lamports a compute unit, from the lowest recent fee to the highest. */
export interface FeeLevels {
  min: number;
  low: number;
  medium: number;
  high: number;
  veryHigh: number;
  unsafeMax: number;
}

/**
 * Recent fees of transactions that lock these accounts: a function of the accounts, the slots looked back and the
 * ticks. A quarter of the accounts is quiet: their lowest fees are 0.
 */
export function feeLevels(
  world: { seed: number; ticks: number },
  accounts: readonly string[],
  lookbackSlots: number,
): FeeLevels {
  const about = [world.seed, world.ticks, lookbackSlots, ...[...accounts].sort()].join('\n');
  const random = new Random(hash('sha256', about, 'buffer').readUInt32LE());
  const quiet = random.oneIn(4);
  const step = () => 1 + random.below(3000) / 1000;
  const low = quiet ? 0 : random.below(2_000_000) / 1000;
  const medium = (low + 1) * step() + 0.5;
  const high = medium * step();
  const veryHigh = high * step();
  return { min: quiet ? 0 : low / 4, low, medium, high, veryHigh, unsafeMax: veryHigh * 20 };
}
