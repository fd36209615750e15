import { publishLoaded } from '../run/publish-stage.ts';
import { rebuild } from '../run/repair-build.ts';
import type { GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import { auditLines, refusalLines } from './run-report.ts';
import type { Usage } from './usage.ts';

interface RebuildArgs extends GlobalArgs {
  fromArchive: boolean;
}

/** Options of `ledgerlake rebuild`. */
export const usage: Usage = {
  options: {
    '--from-archive': 'From nothing instead of the snapshot: apply every segment ever received again',
  },
  examples: { 'ledgerlake rebuild': 'The snapshot, and every segment it does not have' },
  notes:
    'Sends no request. The former build is set aside, not removed. A damaged build needs no command: the next run rebuilds it.',
};

/** `ledgerlake rebuild`: the build rebuilt from what was received, then the snapshot. */
export function execute(args: RebuildArgs): Promise<number> {
  return runOffline('rebuild', args, async (session, context) => {
    const replayed = await rebuild(session, args.fromArchive);
    const { published, exitCode } = await publishLoaded(session, replayed.refused);
    const lines = [
      `replayed ${replayed.segments} segments, ${replayed.rows} rows in ${replayed.seconds.toFixed(1)} s`,
      ...refusalLines(published.refused, context.folder),
      ...auditLines(published.audits),
    ];
    context.print(lines.join('\n'), { ...replayed, refused: published.refused, audits: published.audits });
    return exitCode;
  });
}
