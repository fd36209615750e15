import { Writable } from 'node:stream';
import { runCommandLine } from '../../src/commands/command-line.ts';
import { aheadBy } from './clock.ts';

/** Where and with what one command line runs. */
export interface Surroundings {
  cwd: string;
  /** All that it sees of the environment. */
  env: Readonly<Record<string, string | undefined>>;
  /** How far its clock is ahead, which then runs 20 times as fast (clock.ts). Left out: the process's own clock. */
  aheadMs?: number;
}

/** How it ended, and what it printed. */
export interface Printed {
  code: number;
  stdout: string;
  stderr: string;
}

/** Whether variables are for Node itself, which reads them only as it starts. */
export function isForNode(env: Surroundings['env']): boolean {
  return Object.keys(env).some((name) => name.startsWith('NODE_'));
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs one command line in this process, which saves the second of CPU that a process of its own takes to start. They run
 * one after the other, because folder, environment and output are the process's. What is about processes — signals,
 * kills, memory, pipes, locks that this process would hold itself — is for `startProgram` and `startCli`.
 */
export function runHere(args: readonly string[], surroundings: Surroundings): Promise<Printed> {
  const ended = last.then(() => runIn(surroundings, args));
  last = ended.catch(() => undefined);
  return ended;
}

async function runIn({ cwd, env, aheadMs }: Surroundings, args: readonly string[]): Promise<Printed> {
  const before = { cwd: process.cwd(), env: process.env, umask: process.umask(0o077) };
  const stdout = takeOver('stdout');
  const stderr = takeOver('stderr');
  process.chdir(cwd);
  process.env = { ...env };
  try {
    const work = () => runCommandLine(args);
    const code = await (aheadMs === undefined ? work() : aheadBy(aheadMs, work));
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = before.env;
    process.chdir(before.cwd);
    process.umask(before.umask);
    stdout.giveBack();
    stderr.giveBack();
  }
}

/** Puts a stream that collects in the place of one of the process's. */
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
