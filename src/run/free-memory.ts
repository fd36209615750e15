import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Growth since the last collection, in bytes, that is worth another: one takes 20 ms. */
const worthBytes = 28_000_000;

/** Bytes in use after the last collection; at first those of a program without a crawl. */
let bytesAfterLast = 20_000_000;

/**
 * Collects the garbage of a crawl. Node collects when its own memory runs short and does not see DuckDB's: up to 200 MB
 * would stay allocated during loading and publishing.
 */
export function freeMemory(): void {
  if (bytesInUse() - bytesAfterLast < worthBytes) return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  bytesAfterLast = bytesInUse();
}

function bytesInUse(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
