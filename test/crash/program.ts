import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const ownProgram = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** A folder of one test with the folders of one installation in it, removed when the test ends. */
export interface Place {
  root: string;
  data: string;
  jobs: string;
}

export async function makePlace(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-crash-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const place = { root, data: join(root, 'data'), jobs: join(root, 'jobs') };
  await mkdir(place.jobs);
  return place;
}

/** Writes files below a folder; folders are made. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
  }
}

/** How a process ended. */
export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** What it has said on stderr so far. */
  stderr(): string;
}

export interface StartOptions {
  place: Place;
  env?: Readonly<Record<string, string>>;
  /** Another copy of the program. */
  program?: string;
  /** A module that Node loads before the program. */
  preload?: string;
}

/** Starts the built program as a scheduler would, in its place's folder; nothing of our environment but PATH. */
export function startProgram(
  args: readonly string[],
  { place, env = {}, program = ownProgram, preload }: StartOptions,
): Started {
  const preloads = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, [...preloads, program, ...args], {
    cwd: place.root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, ended, stderr: () => stderr };
}

export function runProgram(args: readonly string[], options: StartOptions): Promise<Ended> {
  return startProgram(args, options).ended;
}

/** The environment of a run against a sandbox of this process. */
export function environmentOf(sandbox: { url: string }): Record<string, string> {
  return { LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' };
}
