import { existsSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { compareEverything } from '../crash/content.ts';
import { readRows } from '../e2e/night.ts';
import { createDraw } from '../properties/draw.ts';
import { checkAlways, checkEnd } from './check-tables.ts';
import { type CommandEnded, type Installation, openInstallation } from './installation.ts';
import {
  accountJobs,
  editSettings,
  firstSettings,
  type JobSettings,
  lakeTables,
  lastSettings,
} from './job-settings.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { Manner } from './ledger-answers.ts';
import { calm, startLedgerServer } from './ledger-server.ts';
import { describeStep, type Step } from './steps.ts';
import { readTables, type Tables } from './tables.ts';

/** What went wrong first in a sequence, and all that happened until then. */
export interface Failure {
  problems: string[];
  trace: string[];
}

/** A ledger, an installation, and what has happened to them. */
interface World {
  ledger: Ledger;
  manner: Manner;
  place: Installation;
  settings: JobSettings;
  trace: string[];
}

/** Thrown at the first thing that is wrong. */
class WentWrong extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new WentWrong(problems);
}

/** Lets the steps happen to a new installation, then quiet nights. @returns null when the tables end as the ledger is */
export async function playSequence(seed: number, steps: readonly Step[]): Promise<Failure | null> {
  const world = await openWorld(seed);
  try {
    for (const step of steps) await take(world, step);
    await endQuietly(world, seed);
    return null;
  } catch (error) {
    const problems = error instanceof WentWrong ? error.problems : [String((error as Error).stack)];
    return { problems: problems.slice(0, 20), trace: world.trace };
  }
}

async function openWorld(seed: number): Promise<World> {
  const draw = createDraw(seed);
  const ledger = createLedger(draw, draw.pick([40, 40, 200]));
  const manner: Manner = {
    content: draw.pick(['whole', 'empty', 'left out']),
    lastCursor: draw.chance(0.5),
  };
  const server = await startLedgerServer(ledger, manner, seed);
  onTestFinished(() => server.close());
  const place = await openInstallation(ledger, server);
  const settings = firstSettings(ledger);
  await place.writeJobs(settings);
  return { ledger, manner, place, settings, trace: [] };
}

async function take(world: World, step: Step): Promise<void> {
  const { ledger, place, trace, settings: before } = world;
  const draw = createDraw(step.seed);
  trace.push(`${ledger.now().slot}: ${describeStep(step)}`);
  const note = (what: string) => {
    trace[trace.length - 1] += ` (${what})`;
  };
  switch (step.kind) {
    case 'command':
      await command(world, step);
      break;
    case 'ledger':
      ledger.pass(draw.between(1, 50));
      note(ledger.change(draw, step.changes).join(', '));
      break;
    case 'ledger closes most of an owner':
      note(ledger.closeMost(draw).slice(0, 6));
      break;
    case 'edit':
      world.settings = editSettings(step.edit, before, draw, ledger);
      await place.writeJobs(world.settings);
      note(textOf(changedMembers(before, world.settings)));
      break;
    case 'folder':
      if (!(await place.disturb(step.event, step.seed))) note('there is none');
      break;
    case 'days':
      place.pass(step.days);
  }
}

function changedMembers(before: JobSettings, after: JobSettings): Partial<JobSettings> {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => before[name as keyof JobSettings] !== value),
  );
}

/** With addresses in short. */
function textOf(settings: Partial<JobSettings>): string {
  const shorten = (_: string, value: unknown) =>
    typeof value === 'string' && value.length > 40 ? value.slice(0, 6) : value;
  return JSON.stringify(settings, shorten);
}

/** Runs a command, and looks at what it leaves for readers. */
async function command(
  world: World,
  step: Extract<Step, { kind: 'command' }> | QuietStep,
): Promise<CommandEnded> {
  const { ledger, place, trace } = world;
  const ended = await place.command(step);
  trace[trace.length - 1] += ` -> ${ended.code ?? ended.signal}`;
  refuse(ended.problems.flatMap((problem) => [problem, ended.stderr.slice(-3000)]));
  const snapshot = snapshotOf(place);
  if (existsSync(snapshot)) refuse(checkAlways(ledger, await readTables(snapshot)));
  return ended;
}

interface QuietStep {
  kind: 'command';
  args: readonly string[];
  stop: null;
  weather: typeof calm;
}

function snapshotOf({ data }: Installation): string {
  return join(data(), 'warehouse.duckdb');
}

function quiet(world: World, ...args: string[]): Promise<CommandEnded> {
  world.trace.push(`${world.ledger.now().slot}: quiet ${args.join(' ')}`);
  return command(world, { kind: 'command', args, stop: null, weather: calm });
}

/** Nights without changes, until nothing is left to do: then everything must be as the ledger is, and stay so. */
async function endQuietly(world: World, seed: number): Promise<void> {
  const { ledger, place, manner } = world;
  world.settings = lastSettings(world.settings, ledger, createDraw(seed + 1));
  await place.writeJobs(world.settings);
  world.trace.push(`the last jobs: ${textOf(world.settings)}`);
  await catchUp(world);
  // Two runs have to be told that an asset is not there any more.
  for (let night = 0; night < 2; night += 1) await quietNight(world);
  const tables = await readTables(snapshotOf(place));
  refuse(checkEnd(ledger, world.settings, tables, manner.content === 'whole'));
  await quietNight(world);
  refuse(compareHistory(tables, await readTables(snapshotOf(place)), 'a night without changes'));
  refuse(await compareLake(place));
  await rebuildAndCompare(world);
}

/** Finishes what is left, and accepts what was lost. */
async function catchUp(world: World): Promise<void> {
  const { ledger, settings } = world;
  const accept = accountJobs(settings).flatMap((job) => ['--accept-vanished', job]);
  for (let night = 0; night < 5; night += 1) {
    ledger.pass(5);
    const { code } = await quiet(world, 'run', '--json', ...accept);
    if (code === 0) return;
  }
  refuse(['five quiet nights did not end with 0']);
}

async function quietNight(world: World): Promise<void> {
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
      const files = `select * from read_parquet('${place.data()}/lake/${table}/current/*.parquet')`;
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
  const different = await compareEverything(before, snapshotOf(place), whenWritten);
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
