import { createHash } from 'node:crypto';
import { chmod, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DiskError, UsageError } from '../errors.ts';
import { makeSharedFolder } from '../file-modes.ts';
import { readChunks, syncDirectory, syncFile } from '../landing/segment-files.ts';
import { isExportId, type Manifest, manifestName, readCopiedSet, readCurrentId } from './lake-manifest.ts';

/**
 * The files of the lake. A set is written in a dot-named folder beside the tables, sealed (modes, fsync, manifest
 * last), renamed into its table's folder, and only then pointed to by `current`, again by rename. So whoever follows
 * `current` finds a whole set, also after a power loss, and never the rest of a killed export.
 */

const folderMode = 0o750;
const draftPrefix = '.export-';
const linkPrefix = '.current-';

/** Makes the lake's folder and removes what killed exports left in it. The caller holds the run lock. @throws DiskError */
export async function openLake(lake: string): Promise<void> {
  try {
    makeSharedFolder(lake, folderMode);
  } catch (error) {
    throw new DiskError(
      `cannot make the lake's folder ${lake} (${(error as NodeJS.ErrnoException).code})`,
      'Make its parent writable, or name another with lake.uri in the config.',
      { cause: error },
    );
  }
  for (const name of await readdir(lake)) {
    if (name.startsWith(draftPrefix)) await rm(join(lake, name), { recursive: true, force: true });
  }
}

/** Makes a table's folder, removes sets that were never pointed to, and lists the others, oldest first. */
export async function openTableFolder(lake: string, table: string): Promise<string[]> {
  const dir = join(lake, table);
  makeSharedFolder(dir, folderMode);
  await adoptCopiedSet(dir);
  const names = await readdir(dir);
  const current = await readCurrentId(dir);
  const isOrphan = (name: string) => isExportId(name) && (current === null || name > current);
  for (const name of names) {
    if (name.startsWith(linkPrefix) || isOrphan(name)) {
      await rm(join(dir, name), { recursive: true, force: true });
    }
  }
  return names.filter((name) => isExportId(name) && !isOrphan(name)).sort();
}

/** Turns a `current` that is a folder into a link again: the lake was copied by a tool that follows links. */
async function adoptCopiedSet(dir: string): Promise<void> {
  await refuseForeignSet(dir);
  const id = (await readCopiedSet(dir))?.id;
  if (id == null) return;
  // Another folder of this id is a copy or damaged; the one that readers used is right.
  await rm(join(dir, id), { recursive: true, force: true });
  await rename(join(dir, 'current'), join(dir, id));
  await pointTo(dir, id);
}

/** @throws UsageError when `current` is something that no export made */
export async function refuseForeignSet(dir: string): Promise<void> {
  const copied = await readCopiedSet(dir);
  if (copied === null || copied.id !== null) return;
  throw new UsageError(
    `${join(dir, 'current')} is neither a link nor a set that an export made`,
    'Move it out of the lake, or name another folder with lake.uri in the config.',
  );
}

/** The folder that a set is written in. */
export function nameDraft(lake: string, table: string, id: string): string {
  return join(lake, `${draftPrefix}${table}-${id}`);
}

/** Creates an empty folder, removing what an earlier attempt wrote. */
export async function createDraft(draft: string): Promise<void> {
  await rm(draft, { recursive: true, force: true });
  makeSharedFolder(draft, folderMode);
}

/** Size and checksum of a draft's Parquet files, sorted by path, with modes set and bytes on disk. */
export async function sealFiles(draft: string, fileMode: number): Promise<Omit<FileFacts, 'rows'>[]> {
  const files = [];
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) {
      await chmod(path, folderMode);
      continue;
    }
    await syncFile(path);
    await chmod(path, fileMode);
    const relative = path.slice(draft.length + 1);
    files.push({ path: relative, bytes: (await stat(path)).size, sha256: await hashFile(path) });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

export type FileFacts = Manifest['files'][number];

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await readChunks(path, (chunk) => hash.update(chunk));
  return hash.digest('hex');
}

/** Writes the manifest, the last file of a draft, and makes every folder's entries durable. */
export async function sealDraft(draft: string, manifest: Manifest, fileMode: number): Promise<void> {
  const path = join(draft, manifestName);
  await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`);
  await syncFile(path);
  await chmod(path, fileMode);
  for (const entry of await readdir(draft, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await syncDirectory(join(entry.parentPath, entry.name));
  }
  await syncDirectory(draft);
}

/** Moves a sealed draft to `<table>/<id>` and points `current` at it. */
export async function publishDraft(lake: string, draft: string, { table, export_id: id }: Manifest) {
  const dir = join(lake, table);
  await rename(draft, join(dir, id));
  await syncDirectory(dir);
  await pointTo(dir, id);
  await syncDirectory(lake);
}

/** Points a table's `current` at a set. */
async function pointTo(dir: string, id: string): Promise<void> {
  const link = join(dir, `${linkPrefix}${id}`);
  await symlink(id, link);
  await rename(link, join(dir, 'current'));
  await syncDirectory(dir);
}

/** Removes all but the newest `keep` sets; `current` is always the newest. */
export async function removeOldSets(tableDir: string, ids: readonly string[], keep: number): Promise<void> {
  const current = await readCurrentId(tableDir);
  for (const id of ids.slice(0, Math.max(0, ids.length - keep))) {
    if (id === current) continue;
    // The manifest goes first: readers do not take a folder without one for a set.
    await rm(join(tableDir, id, manifestName), { force: true });
    await rm(join(tableDir, id), { recursive: true, force: true });
  }
}
