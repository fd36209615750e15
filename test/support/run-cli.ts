import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isForNode, runHere } from './command-line.ts';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Environment of a program whose clock is ahead. */
export function movedClock(days: number): Record<string, string> {
  return {
    NODE_OPTIONS: `--import=${new URL('../chaos/sequences/clock.mjs', import.meta.url).href}`,
    TEST_DAYS_AHEAD: String(days),
  };
}

export interface CliOptions {
  cwd: string;
  /** Besides PATH; nothing else of this process's environment is seen. */
  env?: Readonly<Record<string, string>>;
  /** Text on stdin; left out: nothing, at once. */
  input?: string;
}

export interface CliEnded {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface StartedCli {
  child: ChildProcess;
  ended: Promise<CliEnded>;
  /** Resolves with stdout so far once it contains the text. */
  said(text: string): Promise<string>;
}

/** Starts the program, built by build-once.ts before any test, as a user would. */
export function startCli(args: readonly string[], { cwd, env = {}, input = '' }: CliOptions): StartedCli {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { PATH: process.env.PATH, ...env } });
  child.stdin.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const ended = new Promise<CliEnded>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  const said = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => stdout.includes(text) && resolve(stdout);
      child.stdout.on('data', look);
      child.on('close', () => reject(new Error(`it ended without saying ${text}: ${stdout}${stderr}`)));
      look();
    });
  return { child, ended, said };
}

/** Runs the program to its end: in this process, unless it reads stdin or Node itself is told something. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliEnded> {
  const { cwd, env = {}, input } = options;
  if (input !== undefined || isForNode(env)) return startCli(args, options).ended;
  return runHere(args, { cwd, env: { PATH: process.env.PATH, ...env } });
}
