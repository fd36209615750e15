import type { Argv } from 'yargs';
import { startLoading } from '../pipeline/load-stage.ts';
import { openSession } from '../pipeline/session.ts';
import { type GlobalArgs, openContext } from './context.ts';

/** Options of `ledgerlake load`. */
export function describeOptions(command: Argv): Argv {
  return command.example('$0 load', 'After `crawl`: type every landed segment that is not typed yet');
}

/** `ledgerlake load`: landed segments into staging. */
export async function execute(args: GlobalArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const session = await openSession({ ...context, verb: 'load', jobs: [], origins: {} });
  let exitCode = 1;
  try {
    const loaded = await (await startLoading(session)).finish();
    context.print(`loaded ${loaded.segments} segments, ${loaded.records} records`, loaded);
    exitCode = 0;
    return exitCode;
  } finally {
    await session.end(exitCode, null);
  }
}
