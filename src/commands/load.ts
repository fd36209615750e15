import { loadWaiting } from '../run/publish-stage.ts';
import type { GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import type { Usage } from './usage.ts';

/** `ledgerlake load` takes nothing of its own. */
export const usage: Usage = {
  examples: { 'ledgerlake load': 'After `crawl`: type every landed segment that is not typed yet' },
};

/** `ledgerlake load`: landed segments into staging. */
export function execute(args: GlobalArgs): Promise<number> {
  return runOffline('load', args, async (session, context) => {
    const loaded = await loadWaiting(session);
    context.print(`loaded ${loaded.segments} segments, ${loaded.records} records`, loaded);
    return 0;
  });
}
