import { createHash } from 'node:crypto';
import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readChunks, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { folderMode } from './folder-lake.ts';
import type { Manifest } from './lake-manifest.ts';

type FileFacts = Omit<Manifest['files'][number], 'rows'>;

/** Makes a draft's files and folders durable, with their modes. @returns size and checksum of its files, sorted by path */
export async function sealFiles(draft: string, fileMode: number): Promise<FileFacts[]> {
  const files: FileFacts[] = [];
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      await chmod(path, folderMode);
      await syncDirectory(path);
      continue;
    }
    await syncFile(path);
    await chmod(path, fileMode);
    const relative = path.slice(draft.length + 1);
    files.push({ path: relative, bytes: (await stat(path)).size, sha256: await hashFile(path) });
  }
  await syncDirectory(draft);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await readChunks(path, (chunk) => hash.update(chunk));
  return hash.digest('hex');
}

/** Gives the files of a lake that DuckDB wrote itself the lake's modes. */
export async function shareFiles(lake: string, fileMode: number): Promise<void> {
  for (const entry of await readdir(lake, { recursive: true, withFileTypes: true }))
    if (!entry.isSymbolicLink())
      await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? folderMode : fileMode);
}
