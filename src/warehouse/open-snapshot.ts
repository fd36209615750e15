import { access, readdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type DataFolder, dataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';

/** @throws UsageError with how to make a snapshot, if there is none */
export async function requireSnapshot(path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    const folder = dataFolder(dirname(path));
    throw new UsageError(
      `there is no snapshot at ${path}`,
      (await isSnapshotMissing(folder))
        ? 'Nothing is lost: `ledgerlake publish` restores it and sends no request; the next run restores it, too.'
        : 'Make one with `ledgerlake run` first, or name the folder that has one with --data-dir.',
    );
  }
}

/**
 * Whether there is no snapshot although records were loaded. A first run that was refused, or that only crawled, leaves a build
 * without rows. The build itself is not opened, because a run that opens it meanwhile would be refused.
 */
export async function isSnapshotMissing(folder: DataFolder): Promise<boolean> {
  if (await exists(folder.snapshot)) return false;
  const loaded = [folder.staging, folder.archive].map((dir) =>
    readdir(dir).catch((error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? [] : ['not known'])),
  );
  return (await Promise.all(loaded)).flat().length > 0;
}
