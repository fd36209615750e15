import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runCommandLine } from '../../src/commands/command-line.ts';
import { inTurn, withClockAhead } from './clock.ts';

const builtProgram = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Where and with what the program runs. */
export interface ProgramOptions {
  cwd: string;
  /** Everything that the program sees of the environment, besides PATH. */
  env?: Readonly<Record<string, string | undefined>>;
  /** How far its clock is ahead, which then runs 20 times as fast (clock.ts). Only without a process of its own. */
  aheadMs?: number;
  /** Text on stdin. Default: none. Needs a process. */
  input?: string;
  /** Another copy of the program. Needs a process. */
  program?: string;
  /** Another user that it runs as; only root may set it. Needs a process. */
  uid?: number;
  /** A module that Node loads before the program. Needs a process. */
  preload?: string;
}

/** How the program ended, and what it printed. */
export interface Ended {
  /** Its exit code; null if a signal killed it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process of the program. */
export interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** Resolves with stdout so far once it contains the text. @throws if the program ends before */
  stdoutWith(text: string): Promise<string>;
  /** Everything on stderr so far. */
  stderr(): string;
}

/** Waits until something holds. @throws when a process that it takes has ended without it, or after four minutes */
export async function until(holds: () => boolean, run?: Started): Promise<void> {
  const latest = Date.now() + 240_000;
  for (;;) {
    const isOver = Date.now() > latest || (run !== undefined && run.child.exitCode !== null);
    if (holds()) return;
    if (isOver) throw new Error(`what was waited for never came: ${holds}\n${run?.stderr() ?? ''}`);
    await sleep(5);
  }
}

/** Environment of a process whose clock is ahead. */
export function movedClock(days: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${new URL('../chaos/sequences/clock.mjs', import.meta.url).href}`,
    TEST_DAYS_AHEAD: String(days),
  };
}

/** Starts the program, built by build-once.ts before any test, as a user or a scheduler would. */
export function startProgram(
  args: readonly string[],
  { cwd, env = {}, input, program = builtProgram, uid, preload }: ProgramOptions,
): Started {
  const preloads = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, [...preloads, program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
  }) as ChildProcessWithoutNullStreams;
  if (input !== undefined) child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const stdoutWith = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => stdout.includes(text) && resolve(stdout);
      child.stdout.on('data', look);
      child.on('close', () => reject(new Error(`it ended without printing ${text}: ${stdout}${stderr}`)));
      look();
    });
  return { child, ended, stdoutWith, stderr: () => stderr };
}

/** Runs the program to its end in a process, for tests that kill, damage, fill or watch one. */
export function runProcess(args: readonly string[], options: ProgramOptions): Promise<Ended> {
  return startProgram(args, options).ended;
}

/**
 * Runs the program to its end: in this process, which saves the second of CPU that a process takes to start, unless an
 * option needs one. Programs of this process run one after the other, because folder, environment and output are the
 * process's. Signals, kills, memory, pipes and locks that this process would hold itself are for `startProgram`.
 */
export function runProgram(args: readonly string[], options: ProgramOptions): Promise<Ended> {
  const { env = {}, input, program, uid, preload } = options;
  const isForNode = Object.keys(env).some((name) => name.startsWith('NODE_'));
  if (isForNode || [input, program, uid, preload].some((option) => option !== undefined))
    return runProcess(args, options);
  return inTurn(() => runHere(args, options));
}

async function runHere(args: readonly string[], { cwd, env = {}, aheadMs }: ProgramOptions): Promise<Ended> {
  const before = { cwd: process.cwd(), env: process.env, umask: process.umask(0o077) };
  const stdout = takeOver('stdout');
  const stderr = takeOver('stderr');
  process.chdir(cwd);
  process.env = { PATH: before.env.PATH, ...env };
  try {
    const work = () => runCommandLine(args);
    const code = await (aheadMs === undefined ? work() : withClockAhead(aheadMs, work));
    return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = before.env;
    process.chdir(before.cwd);
    process.umask(before.umask);
    stdout.giveBack();
    stderr.giveBack();
  }
}

/** Replaces one of the process's streams with one that collects what is written. */
function takeOver(name: 'stdout' | 'stderr'): { text(): string; giveBack(): void } {
  const before = Object.getOwnPropertyDescriptor(process, name)!;
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece: Buffer, _encoding, onWritten) {
      pieces.push(piece);
      onWritten();
    },
  });
  Object.defineProperty(process, name, { configurable: true, value: stream });
  return {
    text: () => Buffer.concat(pieces).toString(),
    giveBack: () => Object.defineProperty(process, name, before),
  };
}
