import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listOrphans } from '../archive/retention.ts';
import type { DataFolder } from '../data-folder.ts';
import { listSegments } from '../landing/segment-files.ts';

/** A file or folder that nothing needs any more. */
export interface Leftover {
  path: string;
  /** With everything in it. */
  bytes: number;
}

/** A draft of a page that a `webhook` is receiving is younger than this, ms. */
const draftAgeMs = 86_400_000;

/**
 * What kills, damage and rebuilds left in a data folder: files set aside, drafts, staged rows without a segment,
 * temporary files. The caller holds the run lock, so nobody is at work on them.
 */
export async function listLeftovers(folder: DataFolder, now: number): Promise<Leftover[]> {
  const landed = new Set((await listSegments(folder.landing)).map(String));
  const paths = [
    ...(await listNames(folder.root, (name) => /\.set-aside-|\.tmp(\.wal)?$/.test(name))),
    ...(await listOrphans(folder.archive)),
    ...(await listNames(folder.staging, (name) => !landed.has(name))),
    ...(await listNames(folder.temp, () => true)),
    ...(await listNames(folder.root, (name) => join(folder.root, name) === folder.replay)),
    ...(await listDrafts(folder.incoming, now)),
  ];
  return Promise.all(paths.map(async (path) => ({ path, bytes: await sizeOf(path) })));
}

async function listDrafts(dir: string, now: number): Promise<string[]> {
  const drafts = await listNames(dir, (name) => name.startsWith('draft-'));
  const ages = await Promise.all(drafts.map(async (path) => now - (await stat(path)).mtimeMs));
  return drafts.filter((_, n) => (ages[n] as number) > draftAgeMs);
}

async function listNames(dir: string, wanted: (name: string) => boolean): Promise<string[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter(wanted).map((name) => join(dir, name));
}

async function sizeOf(path: string): Promise<number> {
  const entry = await stat(path);
  if (!entry.isDirectory()) return entry.size;
  const inside = await Promise.all((await readdir(path)).map((name) => sizeOf(join(path, name))));
  return inside.reduce((sum, size) => sum + size, 0);
}
