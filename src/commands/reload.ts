import { publishLoaded } from '../run/publish-stage.ts';
import { type ReloadReport, reloadTables } from '../run/reload-stage.ts';
import type { Context, GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import { auditLines, refusalLines } from './run-report.ts';
import type { Usage } from './usage.ts';

interface ReloadArgs extends GlobalArgs {
  table: string[];
}

/** Arguments of `ledgerlake reload`. */
export const usage: Usage = {
  arguments: { '[table...]': 'Tables to reload (default: all)' },
  examples: { 'ledgerlake reload assets': 'After a change in sql/tables/assets.sql' },
  notes:
    'Sends no request. Rows change in place, former versions too; quarantined records that load now are added. If it stops, run it again.',
};

/** `ledgerlake reload [table…]`: rows rebuilt from the raw records, after a change of the mapping. */
export function execute(args: ReloadArgs): Promise<number> {
  return runOffline('reload', args, async (session, context) => {
    const report = await reloadTables(session, args.table);
    const { published, exitCode } = await publishLoaded(session, report.refused);
    report.refused = published.refused;
    report.audits = published.audits;
    context.print(renderReload(report, context), report);
    return exitCode;
  });
}

/** The report as text. Pure. */
function renderReload(report: ReloadReport, { folder }: Pick<Context, 'folder'>): string {
  const lines = [`reloaded ${report.segments} segments`];
  for (const [table, { inserted, changed }] of Object.entries(report.tables)) {
    const amended = report.amended[table] ?? 0;
    if (amended + inserted + changed > 0)
      lines.push(`  ${table}: ${amended} rows updated in place, ${inserted} inserted, ${changed} changed`);
  }
  if (report.gone > 0)
    lines.push(
      `  ${report.gone} segments are not kept any more (warehouse.keep_raw_days): their rows stay as they are`,
    );
  return [...lines, ...refusalLines(report.refused, folder, 'RELOADED'), ...auditLines(report.audits)].join(
    '\n',
  );
}
