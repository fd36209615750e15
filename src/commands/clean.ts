import { rm } from 'node:fs/promises';
import { type Cleanable, findCleanable } from '../pipeline/cleanable.ts';
import { snapshotStage } from '../pipeline/publish-stage.ts';
import { isError } from '../warehouse/own-views.ts';
import type { GlobalArgs } from './context.ts';
import { runOffline } from './offline.ts';
import type { Usage } from './usage.ts';

interface CleanArgs extends GlobalArgs {
  dryRun: boolean;
}

/** Options of `ledgerlake clean`. */
export const usage: Usage = {
  options: { '--dry-run': 'Only say what would go' },
  examples: {
    'ledgerlake clean --dry-run': 'What is older than warehouse.keep_raw_days, and what was left over',
  },
  notes:
    'Runs remove what is older than keep_raw_days themselves; this also removes files set aside and leftovers. Nothing received goes that is not in the snapshot.',
};

/** `ledgerlake clean`: retention on demand, and what kills and damage left. */
export function execute(args: CleanArgs): Promise<number> {
  return runOffline('clean', args, async (session, context) => {
    let exitCode = 0;
    const cleaned = { dryRun: args.dryRun, ...(await findCleanable(session)) };
    if (!args.dryRun) {
      // Retention is part of replacing the snapshot, which must hold what goes from the logs.
      const audits = await snapshotStage(session, { exitCode: 0, stoppedBy: null });
      if (audits.some(isError)) exitCode = 4;
      for (const { path } of cleaned.leftovers) await rm(path, { recursive: true, force: true });
    }
    context.print(renderCleaned(cleaned), cleaned);
    return exitCode;
  });
}

/** What a person reads. Pure. */
function renderCleaned(cleaned: Cleanable & { dryRun: boolean }): string {
  const { archive, checkpoints, logs, leftovers, bytes, dryRun } = cleaned;
  const lines = [
    `archive: ${archive.segments} segments, ${archive.bytes} bytes`,
    `checkpoints: ${checkpoints}`,
    `logs: ${logs.runs} runs, ${logs.bytes} bytes`,
    ...leftovers.map((leftover) => `left over: ${leftover.path}, ${leftover.bytes} bytes`),
  ];
  return [...lines, `${dryRun ? 'would remove' : 'removed'} ${bytes} bytes`].join('\n');
}
