// Loaded before the program (node --import): numbers every step of it that makes something durable, and lets it die
// at one of them, or keeps what a death at each of them would leave.
//
// A step is a write, an fsync, a rename, a link, a removal, a folder or a file made, a statement of DuckDB that changes
// a file, opening and closing a database. A point is the moment before one, or half way through it. The program knows
// nothing of this: functions of node:fs, of file handles and of DuckDB are replaced.
//
// CRASH_POINTS is JSON: { root: the data folder, trace: file that gets a line a point, shadows: folder for
//   durable-state.mjs, at: number of the point to die at (0: none), images: null, or the folder that gets what a death at
//   each point, or at that one, leaves: <n>, and with a power loss <n>-undone and <n>-torn; losses: which of the three }
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { duckdb } from '../../../dist/duckdb.js';
import { createDurableState, listBelow } from './durable-state.mjs';

const { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } = duckdb;
const plan = JSON.parse(process.env.CRASH_POINTS);
const { appendFileSync, closeSync: closeFile, existsSync, lstatSync, openSync: openFile } = fs;
const { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync, writeSync } = fs;

// Threads count together: [points so far, whether a thread is at one, fsyncs so far].
if (isMainThread) setEnvironmentData('crash-points', new Int32Array(new SharedArrayBuffer(12)));
const shared = getEnvironmentData('crash-points');
const durable = createDurableState(plan.root, plan.shadows);
if (isMainThread) durable.begin();

/** What a death does to the data folder is no step; Node's appendFileSync calls the writeFileSync of this module. */
let isDying = false;

/** One point. @param halve makes in a copy of the data folder what the step leaves when it is cut in the middle */
function reach(what, halve = null) {
  if (isDying) return;
  while (Atomics.compareExchange(shared, 1, 0, 1) !== 0) Atomics.wait(shared, 1, 1, 5);
  try {
    const n = Atomics.add(shared, 0, 1) + 1;
    appendFileSync(plan.trace, `${JSON.stringify({ n, what, at: Date.now() })}\n`);
    if (plan.images !== null && (plan.at === 0 || plan.at === n)) keepImages(n, halve);
    if (plan.at === n) die(halve);
  } catch (error) {
    process.stderr.write(`at the point ${what}: ${error.stack}\n`);
    process.kill(process.pid, 'SIGABRT');
  } finally {
    Atomics.store(shared, 1, 0);
    Atomics.notify(shared, 1);
  }
}

/** The data folder, and what of it is durable, at the last point: a point that changes neither is none. */
let last = { content: '', fsyncs: -1 };

function keepImages(n, halve) {
  // A process of its own: copying an open database in this one would drop DuckDB's lock.
  const copy = (to) => spawnSync('cp', ['-a', '--reflink=auto', plan.root, to]);
  const image = join(plan.images, String(n));
  if (halve !== null) {
    copy(image);
    halve(image);
    return;
  }
  const now = { content: describeContent(plan.root), fsyncs: Atomics.load(shared, 2) };
  const before = last;
  last = now;
  if (now.content !== before.content) copy(image);
  else if (now.fsyncs === before.fsyncs) return;
  if (plan.losses.includes('torn')) {
    copy(`${image}-torn`);
    durable.torn(`${image}-torn`, n % 2 === 0);
  }
  if (plan.losses.includes('undone')) durable.undone(`${image}-undone`);
}

/** Names, modes and checksums of everything below a folder; without what only shows progress. */
function describeContent(folder) {
  const lines = listBelow(folder).map(({ path, stats }) => {
    try {
      const content = stats.isFile() ? crc32(readFileSync(path)) : '';
      return `${path} ${stats.mode} ${content} ${stats.isSymbolicLink() ? readlinkSync(path) : ''}`;
    } catch (error) {
      // Another step of the program, on its way in another thread, has removed it.
      if (error.code !== 'ENOENT') throw error;
      return '';
    }
  });
  return lines.filter((line) => !line.includes('/run.json')).join('\n');
}

function die(halve) {
  isDying = true;
  if (halve !== null) halve(plan.root);
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** A path in the data folder, relative to it; null for any other. */
function inRoot(path) {
  const below = relative(plan.root, resolve(String(path)));
  return below.startsWith('..') || below.startsWith('/') ? null : below;
}

function pathOf(fd) {
  return inRoot(readlinkSync(`/proc/self/fd/${fd}`).replace(/ \(deleted\)$/, ''));
}

function half(data) {
  const bytes =
    typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}

/** Replaces a function by one that reaches its points first. @param describe { what, halve? }, or null for no step */
function wrap(object, name, describe) {
  const original = object[name];
  object[name] = function (...args) {
    const step = describe.call(this, ...args);
    if (step !== null) {
      reach(step.what);
      if (step.halve !== undefined) reach(`${step.what}, half way`, step.halve);
    }
    return original.apply(this, args);
  };
}

function appending(fd, name, data) {
  const path = pathOf(fd);
  if (path === null) return null;
  return { what: `${name} ${path}`, halve: (root) => appendFileSync(join(root, path), half(data)) };
}

/** A write at a place of its own, in a file that is there. */
function overwriting(fd, data, position) {
  const path = pathOf(fd);
  if (path === null || data.length === 0) return null;
  const halve = (root) => {
    const file = openFile(join(root, path), 'r+');
    writeSync(file, half(data), 0, half(data).length, position);
    closeFile(file);
  };
  return { what: `write ${path}`, halve };
}

function onPath(name, pathAt = 0) {
  return (...args) => {
    const path = inRoot(args[pathAt]);
    return path === null ? null : { what: `${name} ${path}` };
  };
}

function naming(name) {
  return (from, to) => (inRoot(to) === null ? null : { what: `${name} ${inRoot(from)} to ${inRoot(to)}` });
}

/** Opening a file is a step where it makes or empties one. */
function opening(path, flags) {
  const own = inRoot(path);
  if (own === null || typeof flags !== 'string' || !/[wa]/.test(flags)) return null;
  return flags.startsWith('w') || !existsSync(path) ? { what: `open ${own}` } : null;
}

function writing(path, data) {
  const own = inRoot(path);
  if (own === null) return null;
  return {
    what: `writeFile ${own}`,
    halve: (root) => writeFileSync(join(root, own), half(data), { mode: 0o600 }),
  };
}

function copying(from, to) {
  const own = inRoot(to);
  if (own === null) return null;
  return {
    what: `copyFile ${own}`,
    halve: (root) => writeFileSync(join(root, own), half(readFileSync(from)), { mode: 0o600 }),
  };
}

/** A folder is removed entry by entry. */
function removing(path) {
  const own = inRoot(path);
  const stats = own === null ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (!stats.isDirectory()) return { what: `rm ${own}` };
  const halve = (root) => {
    const names = readdirSync(join(root, own)).sort();
    for (const name of names.slice(0, Math.ceil(names.length / 2)))
      rmSync(join(root, own, name), { recursive: true });
  };
  return { what: `rm ${own}`, halve };
}

const described = { open: opening, writeFile: writing, copyFile: copying, rm: removing };
for (const name of [
  'open',
  'writeFile',
  'copyFile',
  'rm',
  'mkdir',
  'mkdtemp',
  'unlink',
  'truncate',
  'chmod',
  'rmdir',
]) {
  wrap(promises, name, described[name] ?? onPath(name));
  wrap(fs, `${name}Sync`, described[name] ?? onPath(name));
}
for (const name of ['rename', 'link']) {
  wrap(promises, name, naming(name));
  wrap(fs, `${name}Sync`, naming(name));
}
wrap(promises, 'symlink', onPath('symlink', 1));
wrap(fs, 'writeSync', (fd, data) => appending(fd, 'write', data));
wrap(fs, 'ftruncateSync', (fd) => (pathOf(fd) === null ? null : { what: `truncate ${pathOf(fd)}` }));
// Streams write by these.
wrap(fs, 'write', (fd, data, offset, length) =>
  appending(fd, 'write', data.subarray(offset, offset + length)),
);
wrap(fs, 'writev', (fd, buffers) => appending(fd, 'write', Buffer.concat(buffers)));

const probe = await promises.open('/dev/null');
const FileHandle = Object.getPrototypeOf(probe);
await probe.close();
for (const name of ['appendFile', 'writeFile'])
  wrap(FileHandle, name, function (data) {
    return appending(this.fd, name, data);
  });
wrap(FileHandle, 'write', function (data, offset, length, position) {
  return overwriting(this.fd, data.subarray(offset, offset + length), position);
});
wrap(FileHandle, 'truncate', function () {
  return pathOf(this.fd) === null ? null : { what: `truncate ${pathOf(this.fd)}` };
});

/** An fsync is a step, and known to the record of what is durable when it has succeeded. */
for (const name of ['sync', 'datasync']) {
  const original = FileHandle[name];
  FileHandle[name] = async function () {
    const path = pathOf(this.fd);
    if (path === null) return original.call(this);
    reach(`${name} ${path === '' ? '.' : path}`);
    const done = durable.syncing(this.fd, join(plan.root, path));
    await original.call(this);
    done();
    Atomics.add(shared, 2, 1);
  };
}
for (const name of ['fsyncSync', 'fdatasyncSync']) {
  const original = fs[name];
  fs[name] = (fd) => {
    const path = pathOf(fd);
    if (path === null) return original(fd);
    reach(`${name} ${path}`);
    const done = durable.syncing(fd, join(plan.root, path));
    original(fd);
    done();
    Atomics.add(shared, 2, 1);
  };
}
syncBuiltinESMExports();

// DuckDB. What is done inside a transaction is durable when it commits.
const fileOf = new WeakMap();
const instanceOf = new WeakMap();
const inTransaction = new WeakSet();
const statements = new WeakMap();

const { create } = DuckDBInstance;
DuckDBInstance.create = async (path, options) => {
  const isFile = path !== ':memory:' && options?.access_mode !== 'READ_ONLY' && inRoot(path) !== null;
  if (isFile) reach(`duckdb opens ${inRoot(path)}`);
  const instance = await create.call(DuckDBInstance, path, options);
  fileOf.set(instance, isFile ? inRoot(path) : null);
  return instance;
};
const { connect, closeSync } = DuckDBInstance.prototype;
DuckDBInstance.prototype.connect = async function () {
  const connection = await connect.call(this);
  fileOf.set(connection, fileOf.get(this) ?? null);
  instanceOf.set(connection, this);
  return connection;
};
// The last close of a database checkpoints it.
DuckDBInstance.prototype.closeSync = function () {
  if (fileOf.get(this)) reach(`duckdb closes ${fileOf.get(this)}`);
  return closeSync.call(this);
};

const { extractStatements } = DuckDBConnection.prototype;
DuckDBConnection.prototype.extractStatements = async function (sql) {
  const extracted = await extractStatements.call(this, sql);
  const { prepare } = extracted;
  extracted.prepare = async (n) => {
    const statement = await prepare.call(extracted, n);
    statements.set(statement, { connection: this, sql: plain(sql) });
    return statement;
  };
  return extracted;
};

const { run: runText } = DuckDBConnection.prototype;
DuckDBConnection.prototype.run = function (sql, values, types) {
  openAttached(this, plain(sql));
  const again = () => runText.call(this, sql, values, types);
  // With values it is prepared, and comes by below.
  return values === undefined ? runStep(this, plain(sql), again) : again();
};
/** A file may also be opened by attaching it to a database in memory, which then works on it. */
function openAttached(connection, sql) {
  const path = /^attach '([^']+)'/i.exec(sql)?.[1];
  if (path === undefined || /\(read_only/i.test(sql) || inRoot(path) === null) return;
  reach(`duckdb opens ${inRoot(path)}`);
  for (const owner of [connection, instanceOf.get(connection)]) fileOf.set(owner, inRoot(path));
}
const { bind } = DuckDBPreparedStatement.prototype;
DuckDBPreparedStatement.prototype.bind = function (values, types) {
  const statement = statements.get(this);
  const file = values.temporary ?? values.file;
  if (file !== undefined) statement.sql += ` -> ${inRoot(file)}`;
  return bind.call(this, values, types);
};
const { run: runPrepared } = DuckDBPreparedStatement.prototype;
DuckDBPreparedStatement.prototype.run = function () {
  const { connection, sql } = statements.get(this);
  return runStep(connection, sql, () => runPrepared.call(this));
};

async function runStep(connection, sql, start) {
  if (!isStep(connection, sql)) return start();
  const what = `duckdb ${sql.slice(0, 60)}${/ -> .*$/.exec(sql)?.[0] ?? ''}`;
  reach(what);
  const running = start();
  if (plan.at > 0 || plan.images === null) {
    // Copies would tear what a kill does not, so only real deaths come in the middle.
    await new Promise(setImmediate);
    reach(`${what}, under way`);
  }
  return running;
}

/** Whether a statement changes a file, now: in a transaction the commit does. */
function isStep(connection, sql) {
  const [word] = sql.toLowerCase().split(/[ ;]/, 1);
  if (word === 'begin') inTransaction.add(connection);
  const isOpen = inTransaction.has(connection);
  if (word === 'commit' || word === 'rollback') inTransaction.delete(connection);
  if (word === 'copy') return true;
  if (!fileOf.get(connection) || ['begin', 'select', 'with', 'from', 'set', 'use', 'attach'].includes(word))
    return false;
  return word === 'commit' || !(isOpen || /^create (or replace )?temp/i.test(sql));
}

function plain(sql) {
  return sql.replaceAll(/--.*/g, '').replaceAll(/\s+/g, ' ').trim();
}

if (isMainThread) process.on('exit', () => reach('the end'));
