import { access } from 'node:fs/promises';
import { UsageError } from '../errors.ts';

/** Refuses to go on without a snapshot. @throws UsageError */
export async function requireSnapshot(path: string): Promise<void> {
  try {
    await access(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    throw new UsageError(
      `there is no snapshot at ${path} yet`,
      'Make one with `ledgerlake run` first, or name the folder that has one with --data-dir.',
    );
  }
}
