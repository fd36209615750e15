import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeSharedFolder, sharedMode } from '../file-modes.ts';
import type { ProjectFile } from './project.ts';

/** What became of each file, by path. */
export interface Written {
  written: string[];
  /** Was there already, and stays as it is. */
  kept: string[];
}

/** Writes the files that are not there yet; never touches one that is. */
export async function writeProject(folder: string, files: readonly ProjectFile[]): Promise<Written> {
  const result: Written = { written: [], kept: [] };
  for (const { path, text } of files) {
    const place = join(folder, path);
    makeSharedFolder(dirname(place), 0o755);
    ((await writeNew(place, text)) ? result.written : result.kept).push(path);
  }
  return result;
}

/** @returns false when something stands there, a link that leads nowhere included */
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
