import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeSharedFolder, sharedMode } from '../file-modes.ts';
import type { ProjectFile } from './project.ts';

/** The result for each file, by path. */
export interface Written {
  written: string[];
  /** Existing files, which stay unchanged. */
  kept: string[];
}

/** Writes the files that do not exist yet; never changes an existing one. */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<Written> {
  const result: Written = { written: [], kept: [] };
  for (const { path, text } of files) {
    const file = join(folder, path);
    makeSharedFolder(dirname(file), 0o755);
    ((await writeNew(file, text)) ? result.written : result.kept).push(path);
  }
  return result;
}

/** @returns false when the path exists, even as a dangling link */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(text);
      await file.chmod(sharedMode(0o644));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
