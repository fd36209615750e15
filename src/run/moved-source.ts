import { findNewestSegment } from '../archive/retention.ts';
import type { DataFolder } from '../data-folder.ts';
import { isEnded, type LandedCrawl, readLanding } from '../landing/reader.ts';
import { createLandingLog } from '../landing/writer.ts';
import { findOperation } from '../operations/catalogue.ts';
import type { SourceMove } from '../warehouse/build.ts';
import type { RunEntry } from './run-log.ts';

/** The last move of each transport. Pure. @param runs in the order they began */
export function listMoves(runs: readonly Pick<RunEntry, 'run' | 'moved' | 'startedAt'>[]): SourceMove[] {
  const moves = new Map<string, SourceMove>();
  for (const { run, moved = {}, startedAt } of runs)
    for (const [transport, origin] of Object.entries(moved))
      moves.set(transport, { transport, origin, run, at: startedAt });
  return [...moves.values()];
}

/**
 * Ends the crawls that were open when their source moved, because a cursor is valid at its provider only. The next run
 * begins a new crawl of the target. The end is recorded in the landing log, so that a rebuild sees it too. Idempotent.
 */
export async function endMovedCrawls(folder: DataFolder, runs: readonly RunEntry[]): Promise<void> {
  const moves = new Map(listMoves(runs).map((move) => [move.transport, move]));
  if (moves.size === 0) return;
  const crawls = [...(await readLanding(folder.landing)).values()];
  const open = crawls.flatMap((crawl) => {
    const move = moves.get(findOperation(crawl.operation)?.transport ?? '');
    const isMoved = move !== undefined && crawl.crawl < move.run && crawl.failed === null && !isEnded(crawl);
    return isMoved ? { crawl, move } : [];
  });
  if (open.length === 0) return;
  const landing = createLandingLog({ dir: folder.landing, highestNumber: await findNewestSegment(folder) });
  try {
    for (const { crawl, move } of open) await landing.appendFailure(failureOf(crawl, move));
  } finally {
    await landing.close();
  }
}

function failureOf(crawl: LandedCrawl, { origin, at, run }: SourceMove) {
  const { task, job, target, operation, shape, first } = crawl;
  return {
    ...{ kind: 'failed' as const, task, crawl: crawl.crawl, run, job, target, operation, shape },
    ...(first?.range === undefined ? {} : { range: first.range }),
    reason: `the source moved to ${origin}: the next run begins anew`,
    failed_at: at,
  };
}
