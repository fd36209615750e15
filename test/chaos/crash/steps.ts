import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Manifest } from '../../../src/export/lake-manifest.ts';
import { type Database, openDatabase } from '../../../src/warehouse/database.ts';
import { type Ended, runProcess } from '../../support/program.ts';
import type { Project } from '../../support/project.ts';
import { timed } from './content.ts';

const preload = fileURLToPath(new URL('crash-points.mjs', import.meta.url));

/** What a death takes along: nothing (a kill), what was not synced, or half of it. */
export type Loss = 'kill' | 'undone' | 'torn';

/** One moment of a run at which it may die. */
export interface Point {
  n: number;
  what: string;
  /** Unix ms. */
  at: number;
}

/** A data folder as a death left it. */
export interface Image {
  point: Point;
  loss: Loss;
  /** Path of the folder, relative to the place. */
  folder: string;
}

interface Command {
  place: Project;
  env: Readonly<Record<string, string>>;
  args: readonly string[];
}

function watch(command: Command, plan: object): Promise<Ended> {
  const { place, env, args } = command;
  const shadows = join(place.root, 'shadows');
  const trace = join(place.root, 'trace.ndjson');
  for (const path of [shadows, trace]) rmSync(path, { recursive: true, force: true });
  const root = place.data;
  const points = { root, trace, shadows, at: 0, images: null, losses: ['kill'], ...plan };
  return runProcess(args, {
    cwd: place.root,
    preload,
    env: { ...env, CRASH_POINTS: JSON.stringify(points) },
  });
}

function readTrace({ root }: Project): Point[] {
  const lines = readFileSync(join(root, 'trace.ndjson'), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Point);
}

/**
 * Runs the program to its end and keeps what a death at each of its points would leave: each different data folder
 * once, and one with a draft of `run.json`, which comes whenever its time has come and is no other state.
 * @param losses what deaths take along
 * @returns every point, and the folders
 */
export async function recordSteps(
  command: Command,
  losses: readonly Loss[],
): Promise<{ ended: Ended; points: Point[]; images: Image[] }> {
  const { place } = command;
  const images = join(place.root, 'images');
  rmSync(images, { recursive: true, force: true });
  mkdirSync(images);
  const ended = await watch(command, { images, losses });
  const points = readTrace(place);
  const known = new Set<string>();
  let hasDraft = false;
  const kept = points.flatMap((point) =>
    losses.flatMap((loss) => {
      const folder = join('images', loss === 'kill' ? `${point.n}` : `${point.n}-${loss}`);
      if (!existsSync(join(place.root, folder))) return [];
      const digest = digestFolder(join(place.root, folder));
      const isFirstDraft = !hasDraft && existsSync(join(place.root, folder, 'run.json.tmp'));
      if (isFirstDraft || !known.has(digest)) {
        hasDraft ||= isFirstDraft;
        known.add(digest);
        return [{ point, loss, folder }];
      }
      rmSync(join(place.root, folder), { recursive: true });
      return [];
    }),
  );
  return { ended, points, images: kept };
}

/** Runs the program to its end. @returns its points in order */
export async function traceSteps(command: Command): Promise<{ ended: Ended; points: Point[] }> {
  const ended = await watch(command, {});
  return { ended, points: readTrace(command.place) };
}

/**
 * Runs the program until it kills itself at one of its points (SIGKILL), and compares what it left with the copy that
 * was made of it there.
 * @returns the point; null when it came to its end before. Whether the copy is what was left
 */
export async function dieAt(
  command: Command,
  at: number,
): Promise<{ ended: Ended; point: Point | null; isAsShown: boolean }> {
  const { place } = command;
  const images = join(place.root, 'at');
  rmSync(images, { recursive: true, force: true });
  mkdirSync(images);
  const ended = await watch(command, { at, images });
  const point = readTrace(place).find(({ n }) => n === at) ?? null;
  const image = join(images, `${at}`);
  const isAsShown = point !== null && digestFolder(image) === digestFolder(place.data);
  return { ended, point, isAsShown };
}

/** Two folders with the same digest have the same files; `run.json` shows progress only and does not count, nor its draft. */
function digestFolder(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const counted = entries.filter(({ name }) => !name.startsWith('run.json'));
  const lines = counted.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const hash = createHash('sha1');
    if (entry.isFile()) hash.update(readFileSync(path));
    if (entry.isSymbolicLink()) hash.update(readlinkSync(path));
    return `${path.slice(folder.length)} ${lstatSync(path).mode} ${hash.digest('hex')}`;
  });
  return createHash('sha1').update(lines.sort().join('\n')).digest('hex');
}

/** What readers of a data folder find, without what depends on time. */
export interface Seen {
  /** A line a table. */
  snapshot: string[];
  /** By table. */
  lake: Record<string, string>;
}

/**
 * Reads snapshot and lake as readers do. Throws when a snapshot does not open, or when a set of the lake is not what its
 * manifest says.
 */
export async function readSeen(data: string): Promise<Seen> {
  return { snapshot: await readSnapshot(join(data, 'warehouse.duckdb')), lake: readLake(join(data, 'lake')) };
}

/**
 * Hashes of the values, which are compared themselves. Whether an asset that moves between two lists is looked up depends
 * on which list was read first, and only a look-up's answer gives a group without any value a hash.
 */
const hashed = /^(record|base|content|token_info|supply|inscription|spl20)_hash$/;

/** What was found in snapshots by the digest of their bytes: most deaths leave the one that was there. */
const known = new Map<string, string[]>();

async function readSnapshot(path: string): Promise<string[]> {
  if (!existsSync(path)) return [];
  // A log beside it is part of what opens.
  if (existsSync(`${path}.wal`)) return readTables(path);
  const digest = createHash('sha1').update(readFileSync(path)).digest('hex');
  const found = known.get(digest) ?? (await readTables(path));
  known.set(digest, found);
  return found;
}

async function readTables(path: string): Promise<string[]> {
  const options = { memoryLimit: '256MB', threads: 1, tempDir: '', readOnly: true };
  const database = await openDatabase(path, options);
  try {
    const columns = await database.rows<{ table: string; column: string }>(`
      select schema_name || '.' || table_name as "table", column_name as "column" from duckdb_columns()
      where (schema_name, table_name) in (select (schema_name, table_name) from duckdb_tables())
        and schema_name in ('main', 'past') order by 1, column_index`);
    const tables = [...new Set(columns.map(({ table }) => table))];
    const queries = tables.map((table) => {
      const own = columns.filter(
        (one) => one.table === table && !timed.test(one.column) && !hashed.test(one.column),
      );
      const names = own.map(({ column }) => `"${column}"`).join(', ');
      return `select '${table}' as name, count(*) as n, sum(hash(${names}))::varchar as digest from ${table}`;
    });
    return [...(await rowsAsLines(database, queries.join(' union all '))), ...(await readState(database))];
  } finally {
    database.close();
  }
}

/** How far the targets and feeds are; a crawl that was made twice is one. */
function readState(database: Database): Promise<string[]> {
  return rowsAsLines(
    database,
    `select distinct job, target, range, kind, state from meta.checkpoints
    union all select distinct job, target, state, low_slot::varchar, '' from meta.coverage
    union all select table_name, key, column_name, reason, md5(raw) from meta.quarantine`,
  );
}

async function rowsAsLines(database: Database, sql: string): Promise<string[]> {
  const rows = await database.rows<{ line: string }>(
    `select r::varchar as line from (${sql}) as r order by 1`,
  );
  return rows.map(({ line }) => line);
}

function readLake(lake: string): Record<string, string> {
  const manifests = join(lake, '_manifests');
  if (!existsSync(manifests)) return {};
  const names = readdirSync(manifests).filter((name) => name.endsWith('.json'));
  const found = names.sort().map((name) => {
    const manifest = JSON.parse(readFileSync(join(manifests, name), 'utf8')) as Manifest;
    const { table, rows, sums, files } = manifest;
    for (const { path, sha256 } of files) {
      const found = createHash('sha256')
        .update(readFileSync(join(lake, path)))
        .digest('hex');
      if (found !== sha256) throw new Error(`${join(lake, path)} is not what its manifest says`);
    }
    // Who opens the table finds one whole set, which is this one or the next.
    if (rows > 0 && readdirSync(join(lake, table)).length !== files.length)
      throw new Error(`${join(lake, table)} has not the files of a set`);
    const values = Object.entries(sums).filter(([column]) => !hashed.test(column));
    return [table, `${rows} ${JSON.stringify(values)}`];
  });
  return Object.fromEntries(found);
}
