import type { Argv } from 'yargs';
import { startLoading } from '../pipeline/load-stage.ts';
import { publishStage, snapshotStage } from '../pipeline/publish-stage.ts';
import { type ReloadReport, reloadTables } from '../pipeline/reload-stage.ts';
import { openSession } from '../pipeline/session.ts';
import { type GlobalArgs, openContext } from './context.ts';

interface ReloadArgs extends GlobalArgs {
  table?: string[];
}

/** Options of `ledgerlake reload`. */
export function describeOptions(command: Argv): Argv {
  return command
    .positional('table', { type: 'string', array: true, describe: 'Tables to make again (default: all)' })
    .example('$0 reload assets', 'After a change in sql/shapes/asset/')
    .epilogue(
      'Asks the API nothing. Rows change in place, also former versions; what was quarantined and loads now comes in. Stopped, it is simply run again.',
    );
}

/** `ledgerlake reload [table…]`: rows made again from the raw records, after a change of the mapping. */
export async function execute(args: ReloadArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const session = await openSession({ ...context, verb: 'reload', jobs: [], origins: {} });
  let exitCode = 1;
  try {
    const report = await reloadTables(session, args.table ?? []);
    await (await startLoading(session)).finish();
    const published = await publishStage(session);
    report.refused.push(...published.refused);
    exitCode = report.refused.length > 0 ? 4 : 0;
    await snapshotStage(session, { exitCode, stoppedBy: null });
    context.print(renderReload(report), report);
    return exitCode;
  } finally {
    await session.end(exitCode, null);
  }
}

/** What a person reads. Pure. */
export function renderReload(report: ReloadReport): string {
  const lines = [`reloaded ${report.segments} segments`];
  for (const [table, { inserted, changed }] of Object.entries(report.tables)) {
    const amended = report.amended[table] ?? 0;
    if (amended + inserted + changed > 0)
      lines.push(`  ${table}: ${amended} rows amended, ${inserted} inserted, ${changed} changed`);
  }
  if (report.gone > 0)
    lines.push(
      `  ${report.gone} segments are not kept any more (warehouse.keep_raw_days): their rows stay as they are`,
    );
  for (const { job, target, reason } of report.refused)
    lines.push(`  NOT RELOADED ${job}${target === '' ? '' : `/${target}`}: ${reason}`);
  return lines.join('\n');
}
