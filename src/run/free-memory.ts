import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes that are worth a collection: it takes 20 ms and starts others, with a heap of 20 MB for nothing. */
const worthBytes = 48_000_000;

/**
 * Collects what a crawl has left: pages, and what it knew of its tasks. Node does so when its own memory runs short, and
 * knows nothing of DuckDB's: up to 200 MB would stay beside what loads and publishes.
 */
export function freeMemory(): void {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  if (heapUsed + arrayBuffers < worthBytes) return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
