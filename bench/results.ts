// What a benchmark run writes down: every sample, and on which machine and with which command it was taken.
import { arch, cpus, platform, release, totalmem } from 'node:os';

/** One contestant's one run. */
export interface Sample {
  seconds: number;
  cpuSeconds: number;
  peakMb: number;
  /** Records received, rows written, or the like; 0 where nothing is counted. */
  rows: number;
  requests: number;
  /** Bytes of the answers. */
  receivedMb: number;
  /** What the contestant left on disk. */
  diskMb: number;
  /** By which parts of the data folder grew, MB; where that is looked at. */
  grownMb?: Record<string, number>;
}

export interface Contestant {
  name: string;
  samples: Sample[];
}

/** Contestants that took turns, so that what disturbs the machine disturbs them alike. */
export interface CaseResult {
  title: string;
  /** What the ratio column compares with: a key of `contestants`. */
  floor: string;
  contestants: Record<string, Contestant>;
}

export interface BenchResult {
  date: string;
  command: string;
  machine: string;
  options: Record<string, number>;
  cases: Record<string, CaseResult>;
}

export function describeMachine(): string {
  const [cpu] = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${cpu?.model.trim()}), ${memoryGb} GB, ${platform()} ${release()} ${arch()}, Node ${process.version}`;
}

/** Every number of a contestant, each the median of its samples. */
export function medianOf({ samples }: Contestant): Sample {
  const { grownMb, ...first } = samples[0]!;
  const names = Object.keys(first) as (keyof typeof first)[];
  const plain = Object.fromEntries(
    names.map((name) => [name, median(samples.map((sample) => sample[name]))]),
  );
  const parts = Object.keys(grownMb ?? {}).map((part) => [
    part,
    median(samples.map((sample) => sample.grownMb?.[part] ?? 0)),
  ]);
  return { ...(plain as never as Sample), ...(grownMb && { grownMb: Object.fromEntries(parts) }) };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
