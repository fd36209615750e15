import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { isForNode, runHere } from '../../support/command-line.ts';
import { withoutLimits } from '../../support/limits.ts';

const ownProgram = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/** A folder with the folders of one installation in it. */
export interface Place {
  root: string;
  data: string;
  jobs: string;
}

/** A place of one test, removed when it ends. */
export async function makePlace(): Promise<Place> {
  const place = await makeLastingPlace();
  onTestFinished(() => removePlace(place));
  return place;
}

/** A place of several tests; who makes it removes it. */
export async function makeLastingPlace(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'ledgerlake-crash-'));
  const place = { root, data: join(root, 'data'), jobs: join(root, 'jobs') };
  await mkdir(place.jobs);
  await writeFiles(root, { 'ledgerlake.yaml': '' });
  return place;
}

export function removePlace({ root }: Place): Promise<void> {
  return rm(root, { recursive: true, force: true });
}

/** Another place with everything that one has, removed when the test ends. */
export async function copyPlace(from: Place): Promise<Place> {
  const place = await makePlace();
  await cp(from.root, place.root, { recursive: true, verbatimSymlinks: true });
  return place;
}

/** Writes files below a folder; folders are made. A `ledgerlake.yaml` gets the limits of the tests' servers: none. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, name === 'ledgerlake.yaml' ? withoutLimits(text) : text);
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
  /** Another user that it runs as; only root may say so. */
  uid?: number;
  /** A module that Node loads before the program. */
  preload?: string;
}

/** Starts the built program as a scheduler would, in its place's folder; nothing of our environment but PATH. */
export function startProgram(
  args: readonly string[],
  { place, env = {}, program = ownProgram, uid, preload }: StartOptions,
): Started {
  const preloads = preload === undefined ? [] : ['--import', preload];
  const child = spawn(process.execPath, [...preloads, program, ...args], {
    cwd: place.root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid === undefined ? {} : { uid }),
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

/** Runs it to its end as a process, for what kills, damages, fills or watches one. */
export function runProcess(args: readonly string[], options: StartOptions): Promise<Ended> {
  return startProgram(args, options).ended;
}

/** Runs it to its end in this process, unless it is another program, user or Node. */
export async function runProgram(args: readonly string[], options: StartOptions): Promise<Ended> {
  const { place, env = {}, program, uid, preload } = options;
  const isOwn = program === undefined && uid === undefined && preload === undefined;
  if (!isOwn || isForNode(env)) return runProcess(args, options);
  const ended = await runHere(args, { cwd: place.root, env: { PATH: process.env.PATH, ...env } });
  return { ...ended, signal: null };
}

/** The environment of a run against a sandbox of this process. */
export function environmentOf(sandbox: { url: string }): Record<string, string> {
  return { LEDGERLAKE_RPC_URL: sandbox.url, LEDGERLAKE_API_KEY: 'sandbox' };
}
