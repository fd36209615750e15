import type { Command } from 'commander';
import { loadWaiting } from '../pipeline/publish-stage.ts';
import type { GlobalArgs } from './context.ts';
import { addExamples } from './examples.ts';
import { runOffline } from './offline.ts';

/** Options of `ledgerlake load`. */
export function describeOptions(command: Command): Command {
  return addExamples(command, {
    'ledgerlake load': 'After `crawl`: type every landed segment that is not typed yet',
  });
}

/** `ledgerlake load`: landed segments into staging. */
export function execute(args: GlobalArgs): Promise<number> {
  return runOffline('load', args, async (session, context) => {
    const loaded = await loadWaiting(session);
    context.print(`loaded ${loaded.segments} segments, ${loaded.records} records`, loaded);
    return 0;
  });
}
