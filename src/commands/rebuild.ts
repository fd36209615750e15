import type { Argv } from 'yargs';
import { startLoading } from '../pipeline/load-stage.ts';
import { rebuild } from '../pipeline/mend-build.ts';
import { publishStage, snapshotStage } from '../pipeline/publish-stage.ts';
import { openSession } from '../pipeline/session.ts';
import { type GlobalArgs, openContext } from './context.ts';

interface RebuildArgs extends GlobalArgs {
  fromArchive: boolean;
}

/** Options of `ledgerlake rebuild`. */
export function describeOptions(command: Argv): Argv {
  return command
    .option('from-archive', {
      type: 'boolean',
      default: false,
      describe: 'From nothing instead of the snapshot: every segment ever received is applied again',
    })
    .example('$0 rebuild', 'The snapshot, and every segment it does not have')
    .epilogue(
      'Asks the API nothing. The former build is set aside, not removed. A damaged build needs no command: the next run makes it again.',
    );
}

/** `ledgerlake rebuild`: the build made again from what was received, then the snapshot. */
export async function execute(args: RebuildArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const session = await openSession({ ...context, verb: 'rebuild', jobs: [], origins: {} });
  let exitCode = 1;
  try {
    const replayed = await rebuild(session, args.fromArchive);
    await (await startLoading(session)).finish();
    await publishStage(session);
    exitCode = 0;
    await snapshotStage(session, { exitCode, stoppedBy: null });
    const seconds = replayed.seconds.toFixed(1);
    context.print(`replayed ${replayed.segments} segments, ${replayed.rows} rows in ${seconds} s`, replayed);
    return exitCode;
  } finally {
    await session.end(exitCode, null);
  }
}
