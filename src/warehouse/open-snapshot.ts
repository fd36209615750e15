import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { dataFolder } from '../data-folder.ts';
import { UsageError } from '../errors.ts';
import { exists } from '../landing/segment-files.ts';

/** Refuses to go on without a snapshot. @throws UsageError that says how to make it */
export async function requireSnapshot(path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    const { build } = dataFolder(dirname(path));
    throw new UsageError(
      `there is no snapshot at ${path}`,
      (await exists(build))
        ? `Its tables are in ${build}: \`ledgerlake publish\` makes it again and asks the API nothing, and so does a run as it ends.`
        : 'Make one with `ledgerlake run` first, or name the folder that has one with --data-dir.',
    );
  }
}

/** Whether the snapshot is gone, or not there yet, though the build that it is a copy of is there. */
export async function isSnapshotMissing(folder: { snapshot: string; build: string }): Promise<boolean> {
  return !(await exists(folder.snapshot)) && (await exists(folder.build));
}
