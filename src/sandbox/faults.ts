import { hashStream } from './random.ts';

/** What may go wrong with an answer. */
export type Fault = 'error-500' | 'html-502' | 'unavailable-503' | 'reset' | 'cut';

const faults: readonly Fault[] = ['error-500', 'html-502', 'unavailable-503', 'reset', 'cut'];

/** Decides for each request in turn whether, and how, it fails: the same seed gives the same sequence. */
export function createFaultPlan(seed: number, rate: number): () => Fault | null {
  const chances = hashStream(seed, 'fault');
  const kinds = hashStream(seed, 'fault-kind');
  let requests = 0;
  return () => {
    requests += 1;
    if (chances(requests) / 2 ** 32 >= rate) return null;
    return faults[kinds(requests) % faults.length] as Fault;
  };
}
