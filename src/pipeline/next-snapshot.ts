import { stat } from 'node:fs/promises';
import type { DataFolder } from '../data-folder.ts';
import type { BlockDigests } from '../warehouse/copy-blocks.ts';
import { beginSnapshot } from '../warehouse/snapshot.ts';

/** Bytes of a snapshot whose copy takes about a second: a smaller one is copied when its time comes. */
const worthBeginning = 256 << 20;

/** The copy of the snapshot that the next one begins with, made beside a crawl. */
export interface NextSnapshot {
  /** Begins it, once, where it is worth it. */
  begin(): void;
  /** What was copied, when it is; null where nothing was. For one use: who fails to finish it removes it. */
  take(): Promise<BlockDigests | null>;
  /** Stops it, for a run that replaces no snapshot. */
  stop(): Promise<void>;
}

/** @param signal stops it too */
export function createNextSnapshot(folder: DataFolder, signal: AbortSignal): NextSnapshot {
  const stopping = new AbortController();
  let copying: Promise<BlockDigests | null> | null = null;
  const copy = async () => {
    const bytes = await stat(folder.snapshot).then(
      ({ size }) => size,
      () => 0,
    );
    return bytes < worthBeginning ? null : beginSnapshot(folder, AbortSignal.any([signal, stopping.signal]));
  };
  return {
    begin() {
      copying ??= copy();
    },
    async take() {
      const taken = copying;
      copying = null;
      return taken;
    },
    async stop() {
      stopping.abort();
      await copying;
    },
  };
}
