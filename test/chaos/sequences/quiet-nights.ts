import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDraw } from '../../support/random.ts';
import { readRows } from '../../support/rows.ts';
import { compareEverything } from '../crash/content.ts';
import { checkEnd } from './check-tables.ts';
import type { CommandEnded, Installation } from './installation.ts';
import { lakeTables, lastSettings } from './job-settings.ts';
import { calm } from './ledger-server.ts';
import { readTables, type Tables } from './tables.ts';
import { refuse, runCommand, snapshotOf, textOf, type World } from './world.ts';

/** Nights without changes, until nothing is left to do: then everything must be as the ledger is, and stay so. @throws WentWrong */
export async function endQuietly(world: World, seed: number): Promise<void> {
  const { ledger, place, manner } = world;
  world.settings = lastSettings(world.settings, ledger, createDraw(seed + 1));
  await place.writeJobs(world.settings);
  world.trace.push(`the last jobs: ${textOf(world.settings)}`);
  await catchUp(world);
  // Two runs, hours apart, have to be told that an asset is not there any more.
  for (let night = 0; night < 2; night += 1) await quietNight(world);
  const tables = await readTables(snapshotOf(place));
  refuse(checkEnd(ledger, world.settings, tables, manner.content === 'whole'));
  await quietNight(world);
  refuse(compareHistory(tables, await readTables(snapshotOf(place)), 'a night without changes'));
  refuse(await compareLake(place));
  await rebuildAndCompare(world);
}

function quiet(world: World, ...args: string[]): Promise<CommandEnded> {
  world.trace.push(`${world.ledger.now().slot}: quiet ${args.join(' ')}`);
  return runCommand(world, { kind: 'command', args, stop: null, weather: calm });
}

/** Finishes what is left, and accepts what was lost. */
async function catchUp(world: World): Promise<void> {
  const { ledger } = world;
  let accept: string[] = [];
  for (let night = 0; night < 5; night += 1) {
    ledger.pass(5);
    const { code, stdout } = await quiet(world, 'run', '--json', ...accept);
    if (code === 0) return;
    const { published } = JSON.parse(stdout) as { published?: { refused: { id: string }[] } };
    accept = (published?.refused ?? []).flatMap(({ id }) => ['--accept', id]);
  }
  refuse(['five quiet nights did not end with 0']);
}

async function quietNight(world: World): Promise<void> {
  world.place.pass(0.25);
  world.ledger.pass(5);
  const { code, stderr } = await quiet(world, 'run', '--json');
  if (code !== 0) refuse([`a quiet night ended with ${code}`, stderr]);
}

/** Versions, as they were and as they are, in every column that is read. */
function compareHistory(before: Tables, after: Tables, what: string): string[] {
  const texts = ({ accountVersions, assetVersions, signatures }: Tables) =>
    [...accountVersions, ...assetVersions.map(withoutSlots), ...signatures].map((row) => JSON.stringify(row));
  const [old, now] = [new Set(texts(before)), new Set(texts(after))];
  return [
    ...[...old].filter((row) => !now.has(row)).map((row) => `${what} took ${row}`),
    ...[...now].filter((row) => !old.has(row)).map((row) => `${what} brought ${row}`),
  ];
}

/** What is confirmed has newer slots. */
function withoutSlots<Row extends { content_slot: unknown; token_info_slot: unknown }>(row: Row) {
  const { content_slot: _, token_info_slot: __, ...rest } = row;
  return rest;
}

async function compareLake(place: Installation): Promise<string[]> {
  const different = await Promise.all(
    lakeTables.map(async (table) => {
      const folder = join(place.data(), 'lake', table);
      // A table without rows makes no folder.
      const files = existsSync(folder)
        ? `select * from read_parquet('${folder}/*.parquet')`
        : `select * from ${table} where false`;
      const [row] = await readRows<{ missing: string; invented: string }>(
        snapshotOf(place),
        `select (select count(*) from (from ${table} except all ${files})) as missing,
          (select count(*) from (${files} except all from ${table})) as invented`,
      );
      const { missing, invented } = row!;
      return missing === '0' && invented === '0'
        ? []
        : [`of ${table} the lake lacks ${missing} rows and has ${invented} that are not there`];
    }),
  );
  return different.flat();
}

/** When something was written down, not what. */
const whenWritten = ['meta.segments.published_at'];

/** Made again from all that was received, the tables and their history are the same. */
async function rebuildAndCompare(world: World): Promise<void> {
  const { place } = world;
  const before = join(place.data(), '..', 'before.duckdb');
  await copyFile(snapshotOf(place), before);
  const { code } = await quiet(world, 'rebuild', '--from-archive', '--json');
  // Where records were too old to be kept, the snapshot is what there is to begin with.
  if (code === 2) await quiet(world, 'rebuild', '--json');
  // A rebuild forgets segments that have left the archive; a night forgets them when the next one publishes.
  const except = code === 2 ? [...whenWritten, 'meta.segments'] : whenWritten;
  const different = await compareEverything(before, snapshotOf(place), except);
  if (different.length > 0)
    refuse([...different, ...(await listDifferentRows(before, snapshotOf(place), different))]);
}

/** Rows of the tables that are not the same in two snapshots, a few each. */
async function listDifferentRows(
  one: string,
  other: string,
  differences: readonly string[],
): Promise<string[]> {
  const tables = new Set(differences.map((text) => /^\w+\.\w+/.exec(text)![0]));
  const rows = await Promise.all(
    [...tables].flatMap((table) =>
      [
        ['before', one, other],
        ['rebuilt', other, one],
      ].map(async ([name, from, to]) => {
        const only = await readRows<{ row: string }>(
          ':memory:',
          `attach '${from}' as a (read_only); attach '${to}' as b (read_only);
          select r::varchar as row from (from a.${table} except all from b.${table}) as r limit 4`,
        );
        return only.map(({ row }) => `${table}, ${name}: ${row}`);
      }),
    ),
  );
  return rows.flat();
}
