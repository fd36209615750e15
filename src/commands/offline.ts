import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';
import { withSession } from '../run/open-session.ts';
import type { Ended, Session } from '../run/session.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';

/**
 * Runs the work of a verb that sends no request, in a session of its own.
 * @param work returns the exit code, and what was published
 * @throws UsageError where there is no data folder: a mistyped one would be created and found empty
 */
export async function runOffline(
  verb: string,
  args: GlobalArgs,
  work: (session: Session, context: Context) => Promise<number | Omit<Ended, 'stopped'>>,
): Promise<number> {
  const context = await openContext(args, { asks: false });
  if (!(await exists(context.folder.root)))
    throw new UsageError(
      `there is no data folder ${context.folder.root}`,
      'Name the one that `ledgerlake run` or `crawl` wrote with --data-dir.',
    );
  const { exitCode } = await withSession(
    { ...context, verb, jobs: [], origins: {} },
    async (session): Promise<Ended> => {
      const ended = await work(session, context);
      return { ...(typeof ended === 'number' ? { exitCode: ended } : ended), stopped: null };
    },
  );
  return exitCode;
}
