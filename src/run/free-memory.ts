import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes more than after the last one that are worth a collection: it takes 20 ms, and starts others for nothing. */
const worthBytes = 28_000_000;

/** What was in use after the last collection; a program without a crawl has this much. */
let keptBytes = 20_000_000;

/**
 * Collects what a crawl has left: pages, and what it knew of its tasks. Node does so when its own memory runs short, and
 * knows nothing of DuckDB's: up to 200 MB would stay beside what loads and publishes.
 */
export function freeMemory(): void {
  if (bytesInUse() - keptBytes < worthBytes) return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  keptBytes = bytesInUse();
}

function bytesInUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
