import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Collects what a crawl has left. Node does so when its own memory runs short, and knows nothing of DuckDB's: up to
 * 200 MB of received pages would stay beside what loads and publishes.
 */
export function freeBuffers(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
