import { readSegments } from '../warehouse/publish.ts';
import { type Leftover, listLeftovers } from './leftovers.ts';
import { countOldCheckpoints, findExpired, sizeLines } from './retention-stage.ts';
import type { Session } from './session.ts';

/** What may go from a data folder. */
export interface Cleanable {
  archive: { segments: number; bytes: number };
  checkpoints: number;
  logs: { runs: number; bytes: number };
  leftovers: Leftover[];
  /** Of files; checkpoints are rows. */
  bytes: number;
}

/** What retention would remove, and what kills and damage left. Removes nothing. */
export async function findCleanable(session: Session): Promise<Cleanable> {
  const { folder } = session;
  const { settled, checkpoints } = await session.withBuild(async (build) => ({
    settled: await readSegments(build, 'from meta.segments where settled'),
    checkpoints: await countOldCheckpoints(build, session),
  }));
  const expired = await findExpired(session, settled);
  const leftovers = await listLeftovers(folder, Date.now());
  const logBytes =
    (await sizeLines(folder.requests, expired.requestRuns)) + (await sizeLines(folder.runs, expired.runs));
  const left = leftovers.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    archive: { segments: expired.archive.segments.length, bytes: expired.archiveBytes },
    checkpoints,
    logs: { runs: expired.runs.size, bytes: logBytes },
    leftovers,
    bytes: expired.archiveBytes + logBytes + left,
  };
}
