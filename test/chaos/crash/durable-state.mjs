// What of a folder would be there after a power loss: the record that crash-points.mjs keeps of every fsync.
//
// A file's bytes are durable up to its size at its last fsync; a folder's entries are those it had at its last fsync.
// What stood there when the program began is durable. Of entries that were durable and are gone, a hard link in
// `shadows` keeps the bytes. All of it is on disk, because threads of the program share it.
import fs from 'node:fs';
import { basename, join, relative } from 'node:path';

// Taken before crash-points.mjs replaces them.
const {
  chmodSync,
  copyFileSync,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  closeSync,
} = fs;
const {
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} = fs;

/** DuckDB syncs its own files, and repairs what a power loss does to them; test/chaos/crash/damaged-build.test.ts. */
const ofDuckDb = /^(build\.duckdb(\.tmp)?|run\.lock)(\.wal)?(\.set-aside-.*)?$|\.wal(\.set-aside-.*)?$/;

/** A number of an inode may be used again, its time of birth not. */
function identify(stats) {
  return `${stats.ino}-${stats.birthtimeNs}`;
}

/**
 * @param {string} root the folder that loses power @param {string} shadows a folder of its own on the same disk
 */
export function createDurableState(root, shadows) {
  const sizeFile = (id) => join(shadows, `${id}.size`);
  const entriesFile = (id) => join(shadows, `${id}.entries.json`);
  const shadowFile = (id) => join(shadows, id);

  /** Bytes of a file that are durable. */
  function syncedSize(id) {
    return existsSync(sizeFile(id)) ? Number(readFileSync(sizeFile(id), 'utf8')) : 0;
  }

  function noteFile(stats) {
    writeFileSync(sizeFile(identify(stats)), String(stats.size));
  }

  function noteFolder(path, stats) {
    const entries = [];
    for (const name of readdirSync(path)) {
      const one = lstatSync(join(path, name), { bigint: true, throwIfNoEntry: false });
      if (one === undefined) continue;
      const id = identify(one);
      const kind = one.isDirectory() ? 'folder' : one.isSymbolicLink() ? 'link' : 'file';
      if (kind === 'file' && !existsSync(shadowFile(id))) linkSync(join(path, name), shadowFile(id));
      entries.push({ name, id, kind, ...(kind === 'link' ? { to: readlinkSync(join(path, name)) } : {}) });
    }
    writeFileSync(entriesFile(identify(stats)), JSON.stringify(entries));
  }

  function noteAll(path) {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) noteAll(below);
      else if (entry.isFile()) noteFile(lstatSync(below, { bigint: true }));
    }
    noteFolder(path, lstatSync(path, { bigint: true }));
  }

  /** Makes the folder `id` in `target` as its last fsync left it. */
  function restore(id, target) {
    mkdirSync(target, { mode: 0o700 });
    const entries = existsSync(entriesFile(id)) ? JSON.parse(readFileSync(entriesFile(id), 'utf8')) : [];
    for (const { name, id: own, kind, to } of entries) {
      const path = join(target, name);
      if (kind === 'folder') restore(own, path);
      else if (kind === 'link') symlinkSync(to, path);
      else if (!isOfDuckDb(name)) {
        copyFileSync(shadowFile(own), path);
        chmodSync(path, 0o600);
        truncateSync(path, Math.min(lstatSync(path).size, syncedSize(own)));
        chmodSync(path, lstatSync(shadowFile(own)).mode & 0o777);
      }
    }
  }

  /** What DuckDB keeps safe is there; looked at again where its own thread removed a log meanwhile. */
  function copyOfDuckDb(target) {
    const names = readdirSync(root).filter(isOfDuckDb);
    try {
      for (const name of names) copyFileSync(join(root, name), join(target, name));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      for (const name of names) rmSync(join(target, name), { force: true });
      copyOfDuckDb(target);
    }
  }

  return {
    /** Takes what there is for durable. */
    begin() {
      mkdirSync(shadows, { recursive: true });
      mkdirSync(root, { recursive: true });
      noteAll(root);
    },
    /** What an fsync of this file is going to make durable; call the result when it has. */
    syncing(fd, path) {
      const stats = fstatSync(fd, { bigint: true });
      return () => (stats.isDirectory() ? noteFolder(path, stats) : noteFile(stats));
    },
    /** Makes `target`: only what was synced is there. */
    undone(target) {
      restore(identify(lstatSync(root, { bigint: true })), target);
      copyOfDuckDb(target);
    },
    /**
     * Tears the files of `copy`, which is one of the root: names and sizes came through, of the bytes that were not
     * synced only a half, followed by nothing or by zeros.
     */
    torn(copy, zeros) {
      for (const { path, stats } of listBelow(root)) {
        const own = join(copy, relative(root, path));
        if (!stats.isFile() || isOfDuckDb(path) || !existsSync(own)) continue;
        const [size, synced] = [Number(stats.size), syncedSize(identify(stats))];
        if (size <= synced) continue;
        const from = synced + Math.floor((size - synced) / 2);
        chmodSync(own, 0o600);
        truncateSync(own, from);
        if (zeros) appendZeros(own, size - from);
        chmodSync(own, Number(stats.mode) & 0o777);
      }
    },
  };
}

function appendZeros(path, count) {
  const file = openSync(path, 'a');
  writeSync(file, Buffer.alloc(count));
  closeSync(file);
}

/** Everything below a folder, sorted; what another thread removes meanwhile is left out. */
export function listBelow(folder) {
  try {
    return readdirSync(folder)
      .sort()
      .flatMap((name) => {
        const path = join(folder, name);
        const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
        if (stats === undefined) return [];
        return [{ path, stats }, ...(stats.isDirectory() ? listBelow(path) : [])];
      });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return [];
  }
}

/** Whether a file is one that DuckDB itself keeps safe. */
function isOfDuckDb(path) {
  return ofDuckDb.test(basename(path));
}
