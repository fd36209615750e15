import { rm } from 'node:fs/promises';
import type { Argv } from 'yargs';
import { listLeftovers } from '../pipeline/leftovers.ts';
import { snapshotStage } from '../pipeline/publish-stage.ts';
import { countOldCheckpoints, findExpired, sizeLines } from '../pipeline/retention-stage.ts';
import { openSession, type Session } from '../pipeline/session.ts';
import { type GlobalArgs, openContext } from './context.ts';

interface CleanArgs extends GlobalArgs {
  dryRun: boolean;
}

/** What `clean` removed, or would. */
interface Cleaned {
  dryRun: boolean;
  archive: { segments: number; bytes: number };
  checkpoints: number;
  logs: { runs: number; bytes: number };
  leftovers: { path: string; bytes: number }[];
  /** Of files; checkpoints are rows. */
  bytes: number;
}

/** Options of `ledgerlake clean`. */
export function describeOptions(command: Argv): Argv {
  return command
    .option('dry-run', { type: 'boolean', default: false, describe: 'Only say what would go' })
    .example('$0 clean --dry-run', 'What is older than warehouse.keep_raw_days, and what was left over')
    .epilogue(
      'Runs remove what is older than keep_raw_days themselves; this also removes files set aside and leftovers. Nothing received goes that is not in the snapshot.',
    );
}

/** `ledgerlake clean`: retention on demand, and what kills and damage left. */
export async function execute(args: CleanArgs): Promise<number> {
  const context = await openContext(args, { asks: false });
  const session = await openSession({ ...context, verb: 'clean', jobs: [], origins: {} });
  let exitCode = 1;
  try {
    const cleaned = await findCleanable(session, args.dryRun);
    if (!args.dryRun) {
      // Retention is part of replacing the snapshot, which must hold what goes from the logs.
      await snapshotStage(session, { exitCode: 0, stoppedBy: null });
      for (const { path } of cleaned.leftovers) await rm(path, { recursive: true, force: true });
    }
    context.print(renderCleaned(cleaned), cleaned);
    exitCode = 0;
    return exitCode;
  } finally {
    await session.end(exitCode, null);
  }
}

async function findCleanable(session: Session, dryRun: boolean): Promise<Cleaned> {
  const { folder } = session;
  const { settled, checkpoints } = await session.withBuild(async (build) => {
    const rows = await build.rows<{ segment: bigint }>('select segment from meta.segments where settled');
    return {
      settled: new Set(rows.map(({ segment }) => Number(segment))),
      checkpoints: await countOldCheckpoints(build, session),
    };
  });
  const expired = await findExpired(session, settled);
  const leftovers = await listLeftovers(folder, Date.now());
  const logBytes =
    (await sizeLines(folder.requests, expired.requestRuns)) + (await sizeLines(folder.runs, expired.runs));
  const left = leftovers.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    dryRun,
    archive: { segments: expired.segments.length, bytes: expired.archiveBytes },
    checkpoints,
    logs: { runs: expired.runs.size, bytes: logBytes },
    leftovers,
    bytes: expired.archiveBytes + logBytes + left,
  };
}

/** What a person reads. Pure. */
export function renderCleaned(cleaned: Cleaned): string {
  const { archive, checkpoints, logs, leftovers, bytes, dryRun } = cleaned;
  const lines = [
    `archive: ${archive.segments} segments, ${archive.bytes} bytes`,
    `checkpoints: ${checkpoints}`,
    `logs: ${logs.runs} runs, ${logs.bytes} bytes`,
    ...leftovers.map((leftover) => `left over: ${leftover.path}, ${leftover.bytes} bytes`),
  ];
  return [...lines, `${dryRun ? 'would remove' : 'removed'} ${bytes} bytes`].join('\n');
}
