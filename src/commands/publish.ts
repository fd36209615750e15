import type { Argv } from 'yargs';
import { startLoading } from '../pipeline/load-stage.ts';
import { addPublished, type Published, publishStage, snapshotStage } from '../pipeline/publish-stage.ts';
import { openSession } from '../pipeline/session.ts';
import { type GlobalArgs, openContext } from './context.ts';

/** Options of `ledgerlake publish`. */
export function describeOptions(command: Argv): Argv {
  return command.example('$0 publish', 'After `load`: complete targets into the tables, then a new snapshot');
}

/** `ledgerlake publish`: staging of complete tasks into the tables, then the snapshot. */
export async function execute(args: GlobalArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const session = await openSession({ ...context, verb: 'publish', jobs: [], origins: {} });
  let exitCode = 1;
  try {
    // What `crawl` left untyped would otherwise wait for the next `load`.
    await (await startLoading(session)).finish();
    const published: Published = { crawls: 0, refused: [], tables: {} };
    addPublished(published, await publishStage(session));
    exitCode = published.refused.length > 0 ? 4 : 0;
    await snapshotStage(session, { exitCode, stoppedBy: null });
    const refused = published.refused.map(
      ({ job, target, reason }) => `\n  NOT PUBLISHED ${job}/${target}: ${reason}`,
    );
    context.print(`published ${published.crawls} crawls${refused.join('')}`, published);
    return exitCode;
  } finally {
    await session.end(exitCode, null);
  }
}
