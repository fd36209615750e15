import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clockGain } from '../../support/clock.ts';
import { type Ended, runProgram, type Started, startProgram } from '../../support/program.ts';
import { environmentOf, makeProject, writeFiles } from '../../support/project.ts';
import { createDraw } from '../../support/random.ts';
import { allowedCodes, type Facts } from './exit-codes.ts';
import { installationFiles, type JobSettings } from './job-settings.ts';
import type { Ledger } from './ledger.ts';
import type { Manner } from './ledger-answers.ts';
import { isCalm, type LedgerServer } from './ledger-server.ts';
import { createRoundWatch } from './round-watch.ts';
import type { CommandStep, FolderEvent, Stop } from './steps.ts';

const clock = fileURLToPath(new URL('clock.mjs', import.meta.url));

/** However busy the machine is, no command here takes so long. */
const mostMs = 180_000;

/** How a command of a sequence ended. */
export interface CommandEnded extends Ended {
  /** What is wrong with that, a sentence each. */
  problems: string[];
}

/** The program as one user has it: jobs, a config and a data folder, for one ledger. */
export interface Installation {
  /** Where the data folder is now. */
  data(): string;
  writeJobs(settings: JobSettings): Promise<void>;
  command(step: CommandStep): Promise<CommandEnded>;
  /** @returns whether it could happen */
  disturb(event: FolderEvent, seed: number): Promise<boolean>;
  pass(days: number): void;
}

export async function openInstallation(
  ledger: Ledger,
  server: LedgerServer,
  manner: Manner,
): Promise<Installation> {
  const place = await makeProject();
  const watch = createRoundWatch();
  /** Where neither cursors nor ids lead back to a place of a list, it is begun again. */
  const keepsPlaces = manner.cursors === 'for ever' || manner.bounds === 'kept';
  let data = place.data;
  let aheadMs = 0;
  let copies = 0;
  const argumentsOf = ({ args }: CommandStep) => [...args, '--data-dir', data, '--no-progress'];
  const env = environmentOf(server);
  /** What gets no signal runs in this process. */
  const run = async (step: CommandStep): Promise<{ ended: Ended; inTime: boolean }> => {
    if (step.stop === null) {
      const startedAt = performance.now();
      const ended = await runProgram(argumentsOf(step), { cwd: place.root, env, aheadMs });
      aheadMs += clockGain(performance.now() - startedAt);
      return { ended, inTime: true };
    }
    const moved = { ...env, TEST_DAYS_AHEAD: String(aheadMs / 86_400_000) };
    const started = startProgram(argumentsOf(step), { cwd: place.root, preload: clock, env: moved });
    return stopAndWait(started, step.stop, server);
  };
  return {
    data: () => data,
    async writeJobs(settings) {
      await rm(place.jobs, { recursive: true, force: true });
      await writeFiles(place.root, installationFiles(settings, ledger));
      watch.forget();
    },
    async command(step) {
      const facts = { ...readFacts(data), keepsPlaces };
      const from = server.answered.length;
      const before = server.requests();
      server.beginNight(step.weather);
      const { ended, inTime } = await run(step);
      const hasEnded = hasNotedItsEnd(data);
      const problems = inTime
        ? checkEnded(step, ended, { ...facts, isAtWork: existsSync(data) && !hasEnded })
        : [`it did not end within ${mostMs} ms`];
      if (['run', 'crawl'].includes(step.args[0]!))
        problems.push(
          ...checkBudget(step, ended, server.requests() - before),
          ...watch.see({
            answered: server.answered.slice(from),
            died: ended.code === null && !hasEnded,
            stopped: ended.code === 75 || ended.code === 69,
            isSound: isCalm({ ...step.weather, moves: 0 }) && keepsPlaces,
          }),
        );
      return { ...ended, problems };
    },
    async disturb(event, seed) {
      if (!existsSync(data)) return false;
      if (event !== 'copied to another place') return removePart(data, event, seed);
      copies += 1;
      const copy = join(place.root, `data-${copies}`);
      await cp(data, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
      await rm(data, { recursive: true });
      data = copy;
      return true;
    },
    pass(days) {
      aheadMs += days * 86_400_000;
    },
  };
}

/** Sends the signal when its moment has come, unless the program has ended by then. */
async function stopAndWait(
  run: Started,
  stop: Stop,
  server: LedgerServer,
): Promise<{ ended: Ended; inTime: boolean }> {
  let isOver = false;
  const ended = run.ended.finally(() => {
    isOver = true;
  });
  const late = setTimeout(() => run.child.kill('SIGKILL'), mostMs);
  const startedAt = Date.now();
  const { what, count } = stop.after;
  const from = server.answered.length;
  const reached = {
    start: () => true,
    requests: () => server.answered.length - from >= count,
    lines: () => run.stderr().split('\n').length > count,
  };
  while (!isOver && !reached[what]()) await sleep(2);
  await Promise.race([sleep(stop.ms), ended]);
  run.child.kill(stop.signal);
  const how = await ended;
  clearTimeout(late);
  return { ended: how, inTime: Date.now() - startedAt < mostMs };
}

function readFacts(data: string): Omit<Facts, 'keepsPlaces'> {
  return {
    exists: existsSync(data),
    hasSnapshot: existsSync(join(data, 'warehouse.duckdb')),
    isArchiveShort: existsSync(join(data, 'archive/removed.json')),
  };
}

/** Whether the last run had noted how it ended before it was killed: the next one begins a new round. */
function hasNotedItsEnd(data: string): boolean {
  const log = join(data, 'runs.ndjson');
  return existsSync(log) && readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)!.includes('"exit_code"');
}

function checkEnded(step: CommandStep, ended: Ended, facts: Facts & { isAtWork: boolean }): string[] {
  const { code, signal, stdout } = ended;
  if (code === null)
    return signal === step.stop?.signal ? checkDeath(ended, facts.isAtWork) : [`it ended with ${signal}`];
  const allowed = allowedCodes(step, facts);
  const problems = allowed.includes(code) ? [] : [`it ended with ${code}, ${allowed} may be`];
  if (code === 4 && !/vanished: /.test(`${stdout}${ended.stderr}`))
    problems.push('it was not the mass-delete guard that refused');
  if (!step.args.includes('--json')) return problems;
  return isJson(stdout) ? problems : [...problems, `it printed no JSON: ${stdout.slice(0, 200)}`];
}

/** A budget is kept, and used up before it stops a run. */
function checkBudget({ args, stop, weather }: CommandStep, { code }: Ended, requests: number): string[] {
  const at = args.indexOf('--max-requests');
  const budget = at < 0 ? Number.POSITIVE_INFINITY : Number(args[at + 1]);
  const wasUsed = code !== 75 || stop !== null || !isCalm(weather) || requests === budget;
  return requests <= budget && wasUsed ? [] : [`it sent ${requests} requests of ${budget}`];
}

/** SIGTERM is a kill as long as Node only loads the program, and again once it has done, or refused, its work. */
function checkDeath({ signal, stderr }: Ended, isAtWork: boolean): string[] {
  const hasBegun = stderr.split('\n').some((line) => line.startsWith('{'));
  return signal === 'SIGTERM' && hasBegun && isAtWork ? ['SIGTERM killed it in the middle of its work'] : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes what the program can make again. Of build and snapshot one is left: together they are the data. */
async function removePart(data: string, event: FolderEvent, seed: number): Promise<boolean> {
  const [build, snapshot] = [join(data, 'build.duckdb'), join(data, 'warehouse.duckdb')];
  const staging = join(data, 'staging');
  const staged = existsSync(staging) ? readdirSync(staging) : [];
  const parts: Record<FolderEvent, string[]> = {
    'copied to another place': [],
    'without its build': existsSync(snapshot) ? [build, `${build}.wal`] : [],
    'without its snapshot': existsSync(build) ? [snapshot] : [],
    'without a staged segment': staged.length > 0 ? [join(staging, createDraw(seed).pick(staged))] : [],
    'without its lake': [join(data, 'lake')],
    'without its rates': [join(data, 'rates.json')],
  };
  const there = parts[event].filter((path) => existsSync(path));
  for (const path of there) await rm(path, { recursive: true });
  return there.length > 0;
}
