import { runCommandLine } from '../../src/commands/command-line.ts';

/** Where and with what one command line runs. */
export interface Surroundings {
  cwd: string;
  /** All that it sees of the environment. */
  env: Readonly<Record<string, string | undefined>>;
}

/** How it ended, and what it printed. */
export interface Printed {
  code: number;
  stdout: string;
  stderr: string;
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

async function runIn({ cwd, env }: Surroundings, args: readonly string[]): Promise<Printed> {
  const before = { cwd: process.cwd(), env: process.env, umask: process.umask(0o077) };
  const stdout = takeOver(process.stdout);
  const stderr = takeOver(process.stderr);
  process.chdir(cwd);
  process.env = { ...env };
  try {
    const code = await runCommandLine(args);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    process.env = before.env;
    process.chdir(before.cwd);
    process.umask(before.umask);
    stdout.giveBack();
    stderr.giveBack();
  }
}

/** Collects what is written to a stream instead of writing it. */
function takeOver(stream: NodeJS.WriteStream): { text(): string; giveBack(): void } {
  const { write } = stream;
  const pieces: Buffer[] = [];
  stream.write = ((piece: string | Uint8Array, ...rest: unknown[]) => {
    pieces.push(Buffer.from(piece as string));
    const onWritten = rest.find((one) => typeof one === 'function') as (() => void) | undefined;
    if (onWritten !== undefined) queueMicrotask(onWritten);
    return true;
  }) as typeof write;
  return {
    text: () => Buffer.concat(pieces).toString(),
    giveBack() {
      stream.write = write;
    },
  };
}
