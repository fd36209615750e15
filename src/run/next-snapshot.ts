import type { DataFolder } from '../data-folder.ts';
import type { BlockDigests } from '../warehouse/database-blocks.ts';
import { beginSnapshot, removeDraft } from '../warehouse/snapshot.ts';

/** The copy of the snapshot that the next one begins with, made beside a crawl. */
export interface NextSnapshot {
  /** Begins it, once. */
  begin(): void;
  /** What was copied, when it is; null where nothing was. For one use: who fails to finish it removes it. */
  take(): Promise<BlockDigests | null>;
  /** Stops it, and removes it where nobody took it: a run that replaces no snapshot leaves none. */
  drop(): Promise<void>;
}

/** @param stopping stops it too: the time that is left then is for what was crawled */
export function createNextSnapshot(folder: DataFolder, stopping: AbortSignal): NextSnapshot {
  const dropped = new AbortController();
  let copying: Promise<BlockDigests | null> | null = null;
  return {
    begin() {
      copying ??= beginSnapshot(folder, AbortSignal.any([stopping, dropped.signal]));
    },
    async take() {
      const taken = copying;
      copying = Promise.resolve(null);
      return taken;
    },
    async drop() {
      dropped.abort();
      // What cannot be removed now the next run removes: how this one ended matters more.
      if ((await copying) !== null) await removeDraft(folder).catch(() => undefined);
    },
  };
}
