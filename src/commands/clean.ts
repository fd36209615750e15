import { rm } from 'node:fs/promises';
import { describeStart } from '../archive/archive-start.ts';
import { snapshotStage } from '../run/publish-stage.ts';
import { type Cleanable, findCleanable, type Kept } from '../status/cleanable.ts';
import { isError } from '../warehouse/own-views.ts';
import { countOf } from '../words.ts';
import type { GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import { terminalWidth } from './text-table.ts';
import type { Usage } from './usage.ts';
import { wrapText } from './visible-text.ts';

interface CleanArgs extends GlobalArgs {
  dryRun: boolean;
}

/** Options of `ledgerlake clean`. */
export const usage: Usage = {
  options: { '--dry-run': 'Only list what would be removed' },
  examples: {
    'ledgerlake clean --dry-run': 'What is older than warehouse.keep_raw_days, and what was left over',
  },
  notes:
    'Runs remove what is older than keep_raw_days themselves; this also removes files set aside and leftovers. Nothing received is removed unless the snapshot has it.',
};

/** `ledgerlake clean`: retention on demand, and the leftovers of kills and damage. */
export function execute(args: CleanArgs): Promise<number> {
  return runOffline('clean', args, async (session, context) => {
    let exitCode = 0;
    const cleaned = { dryRun: args.dryRun, ...(await findCleanable(session)) };
    if (!args.dryRun) {
      // Retention is part of replacing the snapshot, because that must hold what leaves the logs.
      const audits = await snapshotStage(session, { exitCode: 0, stoppedBy: null });
      if (audits.some(isError)) exitCode = 4;
      for (const { path } of cleaned.leftovers) await rm(path, { recursive: true, force: true });
    }
    context.print(wrapText(renderCleaned(cleaned), terminalWidth()), cleaned);
    return exitCode;
  });
}

/** What was removed, or would be, as text. Pure. */
function renderCleaned(cleaned: Cleanable & { dryRun: boolean }): string {
  const { archive, checkpoints, logs, leftovers, bytes, dryRun } = cleaned;
  const verb = dryRun ? 'to remove' : 'removed';
  const lines = [
    `${verb}: ${countOf(archive.segments, 'archived segment')}, ${archive.bytes} bytes`,
    `${verb}: ${countOf(checkpoints, 'checkpoint')}`,
    `${verb}: logs of ${countOf(logs.runs, 'run')}, ${logs.bytes} bytes`,
    ...leftovers.map((leftover) => `left over: ${leftover.path}, ${leftover.bytes} bytes`),
  ];
  lines.push(...keptLines(cleaned.kept));
  return [...lines, `${dryRun ? 'would remove' : 'removed'} ${bytes} bytes`].join('\n');
}

/** What stays, and why. Pure. */
function keptLines({ archive, oldTexts, landing, rebuildsFrom }: Kept): string[] {
  const older =
    archive.older === 0
      ? ''
      : `, ${archive.older} of them older, with crawls or runs that continue in younger ones`;
  const lines = [
    `kept: ${archive.segments} archived segments, ${archive.bytes} bytes: of the last ${archive.keepRawDays} days (warehouse.keep_raw_days)${older}`,
  ];
  if (oldTexts.files > 0)
    lines.push(
      `kept: ${oldTexts.files} older record files, ${oldTexts.bytes} bytes: younger pages have some of their texts again`,
    );
  if (landing.segments > 0)
    lines.push(
      `kept: ${landing.segments} segments of the landing log: ${landing.waiting} of them with crawls that are open or held back`,
    );
  lines.push(
    rebuildsFrom === null
      ? 'rebuild --from-archive: all that was ever received is there'
      : `rebuild --from-archive: not from nothing; the archive has what was received ${describeStart(rebuildsFrom)}, before that the snapshot is all there is`,
  );
  return lines;
}
