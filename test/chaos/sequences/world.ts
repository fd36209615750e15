import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createDraw } from '../../support/random.ts';
import { readRows } from '../../support/rows.ts';
import { checkAlways, checkProgress } from './check-tables.ts';
import { type CommandEnded, type Installation, openInstallation } from './installation.ts';
import { firstSettings, type JobSettings, lakeTables } from './job-settings.ts';
import { createLedger, type Ledger } from './ledger.ts';
import { drawManner, type Manner } from './ledger-answers.ts';
import { startLedgerServer } from './ledger-server.ts';
import type { CommandStep } from './steps.ts';
import { readTables, type Tables } from './tables.ts';

/** A ledger, an installation, and what has happened to them. */
export interface World {
  ledger: Ledger;
  manner: Manner;
  place: Installation;
  settings: JobSettings;
  /** What readers found last; null: nothing yet. */
  tables: Tables | null;
  trace: string[];
}

/** Thrown at the first thing that is wrong. */
export class WentWrong extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** @throws WentWrong where there is anything */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new WentWrong(problems);
}

/** A new installation for a ledger, both gone when the test ends. */
export async function openWorld(seed: number): Promise<World> {
  const draw = createDraw(seed);
  const ledger = createLedger(draw, draw.pick([40, 40, 200]));
  const manner = drawManner(draw);
  const server = await startLedgerServer(ledger, manner, seed);
  onTestFinished(() => server.close());
  const place = await openInstallation(ledger, server, manner);
  const settings = firstSettings(ledger, draw);
  await place.writeJobs(settings);
  return {
    ledger,
    manner,
    place,
    settings,
    tables: null,
    trace: [`the API: ${JSON.stringify(manner)}`, `the jobs: ${textOf(settings)}`],
  };
}

/** With addresses in short. */
export function textOf(settings: Partial<JobSettings>): string {
  const shorten = (_: string, value: unknown) =>
    typeof value === 'string' && value.length > 40 ? value.slice(0, 6) : value;
  return JSON.stringify(settings, shorten);
}

/** Runs a command, and looks at what it leaves for readers. @throws WentWrong */
export async function runCommand(world: World, step: CommandStep): Promise<CommandEnded> {
  const { ledger, place, trace } = world;
  const ended = await place.command(step);
  trace[trace.length - 1] += ` -> ${ended.code ?? ended.signal}`;
  refuse(ended.problems.flatMap((problem) => [problem, ended.stderr.slice(-3000)]));
  const snapshot = snapshotOf(place);
  if (existsSync(snapshot)) {
    const tables = await readTables(snapshot);
    refuse(checkAlways(ledger, tables));
    if (world.tables !== null) refuse(checkProgress(world.tables, tables));
    world.tables = tables;
  }
  await readLake(place);
  return ended;
}

/** Whatever was killed, what readers follow can be read. */
async function readLake(place: Installation): Promise<void> {
  const sets = lakeTables.map((table) => join(place.data(), 'lake', table));
  for (const set of sets.filter((path) => existsSync(path)))
    await readRows(':memory:', `select count(*) from read_parquet('${set}/*.parquet')`);
}

export function snapshotOf({ data }: Installation): string {
  return join(data(), 'warehouse.duckdb');
}
