import PQueue from 'p-queue';
import { recordFile } from '../landing/segment-files.ts';
import { createLoader } from '../load/load.ts';
import { listUnloaded } from '../load/staged-segments.ts';
import { openDatabase } from '../warehouse/database.ts';
import { memoryLimits } from '../warehouse/memory.ts';
import type { Session } from './session.ts';

export interface LoadStage {
  /** Queues a sealed segment. */
  add(segment: number): void;
  /** Resolves when everything queued is staged; rejects with the first failure. */
  finish(): Promise<{ segments: number; records: number }>;
}

/**
 * Turns segments into typed rows one after another, while the crawl runs; begins with the segments that earlier runs left.
 * The session's build is closed meanwhile, because the loader reads known texts from it.
 * @param expected shapes that the crawl will bring: a mapping that cannot be read fails before the first request
 */
export async function startLoading(
  session: Pick<Session, 'folder' | 'databaseOptions' | 'log'> & Partial<Pick<Session, 'closeBuild'>>,
  expected: readonly string[] = [],
): Promise<LoadStage> {
  const { folder } = session;
  session.closeBuild?.();
  // In memory, so on one thread: the crawl has the other core.
  const database = await openDatabase(':memory:', {
    ...session.databaseOptions,
    memoryLimit: memoryLimits.loader,
  });
  const loader = await createLoader(database, folder, { shapes: expected, build: folder.build }).catch(
    (error) => {
      database.close();
      throw error;
    },
  );
  const queue = new PQueue({ concurrency: 1 });
  const loaded = { segments: 0, records: 0 };
  let failure: unknown = null;
  const enqueue = (work: () => Promise<void>, priority = 0) => {
    void queue.add(
      async () => {
        if (failure === null) await work().catch((error) => (failure = error));
      },
      { priority },
    );
  };
  const add = (segment: number) =>
    enqueue(async () => {
      loaded.records += await loader.loadOrDefer(segment);
      loaded.segments += 1;
      session.log.debug({ segment }, 'segment loaded');
    });
  for (const segment of await listUnloaded(folder)) add(segment);
  return {
    add,
    async finish() {
      // The crawl has ended, so its core is free.
      enqueue(async () => {
        const waiting = await listUnloaded(folder);
        await database.useThreads(waiting.map((segment) => recordFile(folder.landing, segment)));
      }, 1);
      enqueue(() => loader.loadDeferred());
      await queue.onIdle();
      database.close();
      if (failure !== null) throw failure;
      return loaded;
    },
  };
}
