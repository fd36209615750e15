import { StoppedEarly, UsageError } from '../errors.ts';
import { findReset, type Reset, resetState } from '../run/reset-state.ts';
import type { GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import { askYes } from './stdio.ts';
import type { Usage } from './usage.ts';

interface StateArgs extends GlobalArgs {
  /** A job, or job/target. */
  name: string;
  yes: boolean;
}

/** Arguments and options of `ledgerlake state`. */
export const usage: Usage = {
  arguments: {
    '<action>': { describe: 'reset: forget how far a job is, so that it starts over', choices: ['reset'] },
    '<name>': 'The job, or job/target',
  },
  options: { '--yes': 'Do not ask' },
  examples: {
    'ledgerlake state reset collections': 'The next run crawls every target from the start',
    'ledgerlake state reset tokens/<owner> --yes': 'One target, without being asked',
  },
  notes: 'Rows stay. What was received stays too, and is published; feeds start at `since` again.',
};

/** `ledgerlake state reset <name>`: sends no request. */
export async function execute(args: StateArgs): Promise<number> {
  const { name } = args;
  return runOffline('state', args, async (session, context) => {
    const reset = await findReset(session, name);
    const progress = describeReset(name, reset);
    if (!args.yes)
      await askYes(`Forget ${progress}?`, {
        unattended: new UsageError(`this would forget ${progress}`, 'Add --yes.'),
        declined: new StoppedEarly('nothing was forgotten', 'Answer y, or add --yes.'),
      });
    await resetState(session, [name]);
    context.print(`forgot ${progress}; the next run starts over`, { reset: name, ...reset });
    return 0;
  });
}

function describeReset(name: string, { targets, open }: Reset): string {
  const crawls = open === 0 ? '' : `, ${open} open crawl${open === 1 ? '' : 's'} among them`;
  return `how far ${name} is: ${targets} target${targets === 1 ? '' : 's'}${crawls}`;
}
