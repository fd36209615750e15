import { type Session, withSession } from '../pipeline/session.ts';
import { type Context, type GlobalArgs, openContext } from './context.ts';

/** Does what a verb that asks the API nothing does, in a session of its own. @param work returns the exit code */
export async function runOffline(
  verb: string,
  args: GlobalArgs,
  work: (session: Session, context: Context) => Promise<number>,
): Promise<number> {
  const context = await openContext(args, { asks: false });
  const { exitCode } = await withSession({ ...context, verb, jobs: [], origins: {} }, async (session) => ({
    exitCode: await work(session, context),
    stopped: null,
  }));
  return exitCode;
}
