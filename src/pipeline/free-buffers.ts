import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of buffers that are worth a collection, which takes 20 ms and starts others when there is little to find. */
const worthBytes = 16_000_000;

/**
 * Collects what a crawl has left. Node does so when its own memory runs short, and knows nothing of DuckDB's: up to
 * 200 MB of received pages would stay beside what loads and publishes.
 */
export function freeBuffers(): void {
  if (process.memoryUsage().arrayBuffers < worthBytes) return;
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
