import { StoppedEarly, UsageError } from '../errors.ts';
import { type Forgettable, findForgettable, forgetRows } from '../run/forget-stage.ts';
import { isError } from '../warehouse/own-views.ts';
import type { GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import { auditLines } from './run-report.ts';
import { askYes } from './stdio.ts';
import type { Usage } from './usage.ts';

interface ForgetArgs extends GlobalArgs {
  /** A job, or job/target. */
  name: string;
  yes: boolean;
}

/** Arguments and options of `ledgerlake forget`. */
export const usage: Usage = {
  arguments: { '<name>': 'The job, or job/target' },
  options: { '--yes': 'Do not ask' },
  examples: {
    'ledgerlake forget collections/<address>': 'After the address was taken from the list',
    'ledgerlake forget old-job --yes': 'All that a job brought, without being asked',
  },
  notes:
    "Closes the rows that nothing else brought: they leave their table and stay in its history, with gone_reason 'forgotten'. Rows that another target should show stay. A job that still lists the target brings its rows back.",
};

/** `ledgerlake forget <name>`: sends no request. */
export async function execute(args: ForgetArgs): Promise<number> {
  const { name } = args;
  return runOffline('forget', args, async (session, context) => {
    const found = await findForgettable(session, name);
    const what = `${describeRows(found)} that only ${name} brought (${found.targets} target${found.targets === 1 ? '' : 's'})`;
    const warning =
      found.present === 0
        ? ''
        : `; ${found.present === 1 ? 'a target is' : `${found.present} targets are`} still in the job: a run brings the rows back once the API is at a later slot`;
    if (!args.yes)
      await askYes(`Close ${what}${warning}?`, {
        unattended: new UsageError(`this would close ${what}${warning}`, 'Add --yes.'),
        declined: new StoppedEarly('nothing was forgotten', 'Answer y, or add --yes.'),
      });
    const audits = await forgetRows(session, name);
    const lines = [`closed ${what}${warning}`, ...auditLines(audits)];
    context.print(lines.join('\n'), { forgotten: name, ...found, audits });
    return audits.some(isError) ? 4 : 0;
  });
}

function describeRows({ tables }: Forgettable): string {
  const parts = Object.entries(tables).flatMap(([table, rows]) =>
    rows > 0 ? `${rows} rows of ${table}` : [],
  );
  return parts.length === 0 ? 'no rows' : parts.join(', ');
}
