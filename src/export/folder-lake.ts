import { chmod, lstat, readdir, readFile, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DiskError, UsageError } from '../errors.ts';
import { makeSharedFolder } from '../file-modes.ts';
import { syncDirectory, writeSynced } from '../landing/segment-files.ts';
import { isExportId, type Manifest, manifestOf, setsOf } from './lake-manifest.ts';
import { type LakeOwner, makeFolderId, readFolderId, refuseForeignLake } from './lake-owner.ts';
import type { LakeStore, StoreSettings } from './lake-store.ts';

export const folderMode = 0o750;
const draftPrefix = 'draft-';
const ownerFile = '_lake.json';

/**
 * A lake in a folder. A set is written beside the others in `.sets/<table>/`, and then the link `<table>` is renamed over the
 * former one: readers of `<table>` find one whole set at every moment, also after a power loss. The manifest, which is
 * written last, names the set's own files, which stay while `lake.keep` keeps the set.
 */
export function openFolderLake({ lake, fileMode, owner }: StoreSettings): LakeStore {
  const setsDir = (table: string) => join(lake, setsOf(table));
  const publishText = async (path: string, text: string) => {
    makeSharedFolder(dirname(path), folderMode);
    await writeSynced(`${path}.tmp`, text);
    await chmod(`${path}.tmp`, fileMode);
    await rename(`${path}.tmp`, path);
    await syncDirectory(dirname(path));
  };
  const show = (table: string, id: string | null) => showSet(lake, table, id);
  return {
    async check(tables) {
      for (const table of tables) await refuseForeignTable(join(lake, table));
      await checkOwner(lake, owner, await readFolderId(owner));
    },
    async open() {
      makeLakeFolder(lake);
      const own = await makeFolderId(owner);
      if ((await checkOwner(lake, owner, own)) !== own)
        await publishText(join(lake, ownerFile), `${JSON.stringify({ data_folder: own })}\n`);
    },
    listTables: () => readdir(join(lake, '.sets')).catch(() => []),
    async openTable(table, removesOrphans = true) {
      await refuseForeignTable(join(lake, table));
      const manifest = (await readJson<Manifest>(join(lake, manifestOf(table))))?.export_id ?? '';
      const published = [manifest, (await readShown(lake, table)) ?? ''].sort().at(-1)!;
      const names = await readdir(setsDir(table)).catch(() => []);
      const isOrphan = (name: string) =>
        name.startsWith(draftPrefix) || (isExportId(name) && name > published);
      for (const name of removesOrphans ? names.filter(isOrphan) : [])
        await rm(join(setsDir(table), name), { recursive: true, force: true });
      return names.filter((name) => isExportId(name) && !isOrphan(name)).sort();
    },
    async readManifest(table) {
      const manifest = await readJson<Manifest>(join(lake, manifestOf(table)));
      for (const { path, bytes } of manifest?.files ?? []) {
        const found = await stat(join(lake, path)).catch(() => null);
        if (found?.size !== bytes) return null;
      }
      return manifest;
    },
    async makeDraft(table, id) {
      const draft = join(setsDir(table), `${draftPrefix}${id}`);
      await rm(draft, { recursive: true, force: true });
      makeSharedFolder(draft, folderMode);
      return draft;
    },
    async publish(draft, manifest) {
      const { table, export_id: id, rows } = manifest;
      if (rows === 0) await rm(draft, { recursive: true });
      else await rename(draft, join(setsDir(table), id));
      await syncDirectory(setsDir(table));
      await show(table, rows === 0 ? null : id);
      await publishText(join(lake, manifestOf(table)), `${JSON.stringify(manifest, null, 2)}\n`);
    },
    show,
    removeSet: (table, id) => rm(join(setsDir(table), id), { recursive: true, force: true }),
    addressOf: (table) => join(lake, table),
  };
}

/** Points a table's link at a set; null removes it. */
async function showSet(lake: string, table: string, id: string | null): Promise<void> {
  const path = join(lake, table);
  const target = id === null ? null : `${setsOf(table)}/${id}`;
  if ((await readlink(path).catch(() => null)) === target && target !== null) return;
  const entry = await lstat(path).catch(() => null);
  if (entry === null && target === null) return;
  // Neither a link can replace a folder, nor a rename remove.
  if (target === null || entry?.isDirectory()) await rm(path, { recursive: true, force: true });
  if (target !== null) {
    const link = join(lake, setsOf(table), 'link');
    await rm(link, { force: true });
    await symlink(target, link);
    await rename(link, path);
  }
  await syncDirectory(lake);
}

function makeLakeFolder(lake: string): void {
  try {
    makeSharedFolder(lake, folderMode);
  } catch (error) {
    throw new DiskError(
      `cannot make the lake's folder ${lake} (${(error as NodeJS.ErrnoException).code})`,
      'Make its parent writable, or name another with lake.uri in the config.',
      { cause: error },
    );
  }
}

/** @returns the id that the lake names @throws UsageError as refuseForeignLake */
async function checkOwner(lake: string, { isInside }: LakeOwner, own: string | null): Promise<string | null> {
  const path = join(lake, ownerFile);
  const found = (await readJson<{ data_folder: string }>(path))?.data_folder ?? null;
  refuseForeignLake(lake, { found, own, isInside }, `remove ${path}`);
  return found;
}

/** Id of the set that readers see; null for none. */
async function readShown(lake: string, table: string): Promise<string | null> {
  const target = await readlink(join(lake, table)).catch(() => null);
  return target === null ? null : basename(target);
}

/**
 * Whatever is at a table's path and no export made stays. Ours are the link, a copy of a set by a tool that follows links,
 * and the folders of former versions (`<table>/<export id>`, `<table>/current`).
 * @throws UsageError
 */
async function refuseForeignTable(path: string): Promise<void> {
  const entry = await lstat(path).catch(() => null);
  if (entry === null) return;
  const ours = entry.isSymbolicLink()
    ? isExportId(basename(await readlink(path)))
    : entry.isDirectory() && (await holdsOnlyExports(path));
  if (ours) return;
  throw new UsageError(
    `${path} was not made by an export, so the table cannot take its place`,
    'Move it out of the lake, or name another folder with lake.uri in the config.',
  );
}

const exportedFile = /^(\d{8}T\d{9}Z-\d+\.parquet|_manifest\.json|current|\.current-\d{8}T\d{9}Z)$/;

async function holdsOnlyExports(dir: string): Promise<boolean> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.every((entry) => entry.isDirectory() || exportedFile.test(entry.name));
}

/** Null for a file that is missing or no JSON. */
async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return 'null';
    throw error;
  });
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}
