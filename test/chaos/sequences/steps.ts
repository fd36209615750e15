import { createDraw, type Draw } from '../../support/random.ts';
import { type Edit, editNames } from './job-settings.ts';
import { calm, isCalm, type Weather } from './ledger-server.ts';

/** When a command is sent a signal: so many ms after it was started, or after it asked so often, or said so much. */
export interface Stop {
  signal: 'SIGKILL' | 'SIGTERM';
  after: { what: 'start' | 'requests' | 'lines'; count: number };
  ms: number;
}

export interface CommandStep {
  kind: 'command';
  args: readonly string[];
  stop: Stop | null;
  weather: Weather;
}

/** What somebody, or time, does to a data folder between two commands. */
export const folderEvents = [
  'copied to another place',
  'without its build',
  'without its snapshot',
  'without a staged segment',
  'without its lake',
  'without its rates',
] as const;
export type FolderEvent = (typeof folderEvents)[number];

/** One thing that happens. What it draws comes from a seed of its own, so that it is the same whatever is left out before it. */
export type Step = { seed: number } & (
  | CommandStep
  | { kind: 'ledger'; changes: number }
  | { kind: 'ledger closes most of an owner' }
  | { kind: 'edit'; edit: Edit }
  | { kind: 'folder'; event: FolderEvent }
  | { kind: 'days'; days: number }
);

/** @param commands how many of the steps are commands */
export function drawSteps(seed: number, commands: number): Step[] {
  const draw = createDraw(seed);
  /** Whether more than a day passes in this sequence: then records leave the archive. */
  const isLong = draw.chance(0.4);
  return Array.from({ length: commands }, () => drawNight(draw, isLong)).flat();
}

type Happening = Step extends infer S ? (S extends Step ? Omit<S, 'seed'> : never) : never;

/** What happens before a command, and the command. */
function drawNight(draw: Draw, isLong: boolean): Step[] {
  const night: Happening[] = [];
  if (draw.chance(0.75)) night.push({ kind: 'ledger', changes: draw.between(1, 8) });
  if (draw.chance(0.04)) night.push({ kind: 'ledger closes most of an owner' });
  if (draw.chance(0.4)) night.push({ kind: 'edit', edit: draw.pick(editNames) });
  if (draw.chance(0.2)) night.push({ kind: 'folder', event: draw.pick(folderEvents) });
  if (isLong && draw.chance(0.4)) night.push({ kind: 'days', days: draw.between(1, 3) });
  night.push(drawCommand(draw));
  return night.map((step) => ({ ...step, seed: draw.between(0, 2 ** 31) }) as Step);
}

const verbs: readonly (readonly string[])[] = [
  ['crawl', '--json'],
  ['load'],
  ['publish', '--json'],
  ['rebuild', '--json'],
  ['rebuild', '--from-archive', '--json'],
  ['reload', '--json'],
  ['clean', '--json'],
  ['export', '--json'],
  ['status', '--json'],
  ['plan', '--json'],
];

/** Verbs that are worth dying in. */
const killed: readonly (readonly string[])[] = [
  ['run', '--json'],
  ['run', '--json'],
  ['run', '--json'],
  ['crawl'],
  ['load'],
  ['publish', '--json'],
  ['reload', '--json'],
  ['rebuild', '--json'],
  ['rebuild', '--from-archive', '--json'],
  ['clean', '--json'],
  ['export', '--json'],
];

function drawCommand(draw: Draw): CommandStep {
  const whole = (args: readonly string[]): CommandStep => ({
    ...{ kind: 'command', args, stop: null },
    weather: asksApi(args) ? drawWeather(draw) : calm,
  });
  const stopped = (signal: Stop['signal']): CommandStep => {
    const args = draw.pick(killed);
    return { ...whole(args), stop: drawStop(draw, signal, asksApi(args)) };
  };
  const budget = () => ['--max-requests', String(draw.between(1, 25))];
  return draw.pick<() => CommandStep>([
    () => whole(['run', '--json']),
    () => whole(['run', '--json']),
    () => whole(['run', '--json', ...budget()]),
    () => whole(['run', ...budget()]),
    () => whole(['run', draw.pick(['{owners}', '{collections}']), '--json', ...draw.pick([[], budget()])]),
    () => whole(['crawl', '--json', ...budget()]),
    () => whole(draw.pick(verbs)),
    () => whole(draw.pick(verbs)),
    () => whole(draw.pick(verbs)),
    () => stopped('SIGKILL'),
    () => stopped('SIGKILL'),
    () => stopped('SIGTERM'),
  ])();
}

function asksApi([verb]: readonly string[]): boolean {
  return verb === 'run' || verb === 'crawl';
}

function drawStop(draw: Draw, signal: Stop['signal'], asks: boolean): Stop {
  const what = draw.pick(asks ? (['start', 'requests', 'lines'] as const) : (['start', 'lines'] as const));
  const count = { start: 0, requests: draw.between(1, 40), lines: draw.between(1, 3) }[what];
  const ms = what === 'start' ? draw.between(250, 1500) : draw.between(0, 150);
  return { signal, after: { what, count }, ms };
}

function drawWeather(draw: Draw): Weather {
  if (draw.chance(0.5)) return calm;
  return {
    moves: draw.pick([0, 0.2, 0.5]),
    lags: draw.pick([0, 0.15, 0.4]),
    fails: draw.pick([0, 0, 0.08]),
  };
}

/** A step as the trace shows it. */
export function describeStep(step: Step): string {
  const { seed: _, ...what } = step;
  if (what.kind === 'command') return describeCommand(what);
  if (what.kind === 'edit') return `jobs: ${what.edit}`;
  if (what.kind === 'folder') return `the data folder is ${what.event}`;
  if (what.kind === 'days') return `${what.days} days pass`;
  if (what.kind === 'ledger') return `the ledger makes ${what.changes} changes`;
  return `the ${what.kind}`;
}

function describeCommand({ args, stop, weather }: CommandStep): string {
  const sky = isCalm(weather) ? '' : `, weather ${JSON.stringify(weather)}`;
  if (stop === null) return `${args.join(' ')}${sky}`;
  const { what, count } = stop.after;
  const moment = what === 'start' ? `${stop.ms} ms` : `${count} ${what} and ${stop.ms} ms`;
  return `${args.join(' ')}, ${stop.signal} after ${moment}${sky}`;
}
