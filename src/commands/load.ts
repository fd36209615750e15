import type { Command } from 'commander';
import { startLoading } from '../pipeline/load-stage.ts';
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
    const loaded = await (await startLoading(session)).finish();
    context.print(`loaded ${loaded.segments} segments, ${loaded.records} records`, loaded);
    return 0;
  });
}
