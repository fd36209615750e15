import { publishLoaded } from '../run/publish-stage.ts';
import type { Session } from '../run/session.ts';
import type { Context, GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import { type AcceptArgs, acceptOption } from './run-options.ts';
import { auditLines, refusalLines, waitingLines } from './run-report.ts';
import type { Usage } from './usage.ts';

/** Options of `ledgerlake publish`. */
export const usage: Usage = {
  options: acceptOption,
  examples: {
    'ledgerlake publish': 'After `load`: complete targets into the tables, then a new snapshot',
    'ledgerlake publish --accept r1a2b3c4d': 'Publish what a guard held back; sends no request',
  },
};

/** `ledgerlake publish`: staging of complete tasks into the tables, then the snapshot. */
export function execute(args: GlobalArgs & AcceptArgs): Promise<number> {
  const work = async (session: Session, context: Context) => {
    // What `crawl` left untyped would otherwise wait for the next `load`.
    const { published, exitCode } = await publishLoaded(session, [], args.accept);
    const lines = [
      `published ${published.crawls} crawls`,
      ...waitingLines(published.waiting),
      ...refusalLines(published.refused, context.folder),
      ...auditLines(published.audits),
    ];
    context.print(lines.join('\n'), published);
    return { exitCode, published };
  };
  return runOffline('publish', args, work);
}
