import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../../support/documents.ts';
import { withoutLimits } from '../../support/limits.ts';
import { type Ended, runProgram } from '../../support/program.ts';

/** A copy of the repository in which blocks of a document are run by bash, and ledgerlake by this process. */
export interface Shell {
  folder: string;
  /** Runs one block, as a shell would that stops at the first failure. */
  run(block: string): Promise<Ended>;
  remove(): Promise<void>;
}

/**
 * Starts ledgerlake in the test's process: sends folder, arguments and environment, and gets what was printed. Two
 * commands begin processes all the same: `sandbox`, which does not end, and everything else of Node.
 */
const callTest = String.raw`
reply=$( { printf '%s\0' "$#" "$PWD" "$@"; env -0; } |
  curl -sS --fail --unix-socket "$DOCS_SOCKET" --data-binary @- http://docs/ )
cat "$reply/stdout"
cat "$reply/stderr" >&2
exit "$(cat "$reply/code")"
`;

const commands = {
  // The program names the commands of its hints as it was called, by what npm sets.
  npx: `[ "$1" = ledgerlake ] || exit 2\nexport npm_lifecycle_event=npx npm_lifecycle_script=ledgerlake\nshift${callTest}`,
  node: `case "$1 $2" in 'dist/cli.js sandbox' | -*) exec '${process.execPath}' "$@" ;; esac\nshift${callTest}`,
  // What is built is there already.
  make: 'case "$1" in demo) exec scripts/demo.sh ;; build) ;; *) exit 2 ;; esac',
};

/** @param env what the blocks see besides PATH and HOME */
export async function openShell(env: Readonly<Record<string, string>>): Promise<Shell> {
  const folder = await mkdtemp(join(tmpdir(), 'ledgerlake-docs-'));
  for (const name of ['jobs', 'scripts']) await cp(join(root, name), join(folder, name), { recursive: true });
  for (const name of ['dist', 'sql', 'node_modules', 'package.json'])
    await symlink(join(root, name), join(folder, name));
  await writeFile(join(folder, 'ledgerlake.yaml'), withoutLimits(''));
  const outside = await mkdtemp(join(tmpdir(), 'ledgerlake-docs-shell-'));
  const bin = join(outside, 'bin');
  await mkdir(bin);
  for (const [name, script] of Object.entries(commands))
    await writeFile(join(bin, name), `#!/bin/bash\n${script}\n`, { mode: 0o755 });
  const socket = join(outside, 'socket');
  const server = await serveCommands(outside, socket);
  const { PATH, HOME } = process.env;
  const surroundings = { HOME, ...env, PATH: `${bin}:${PATH}`, DOCS_SOCKET: socket };
  return {
    folder,
    run: (block) => runBash(block, folder, surroundings),
    async remove() {
      server.close();
      for (const path of [folder, outside]) await rm(path, { recursive: true, force: true });
    },
  };
}

/** Answers each command line with the folder that holds what it printed and its exit code. */
async function serveCommands(folder: string, socket: string): Promise<Server> {
  let count = 0;
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const printed = await runSent(Buffer.concat(pieces).toString().split('\0'));
    const reply = join(folder, `${++count}`);
    await mkdir(reply);
    for (const [name, value] of Object.entries(printed)) await writeFile(join(reply, name), `${value}`);
    response.end(reply);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return server;
}

function runSent([count = '0', cwd = '', ...rest]: string[]): Promise<Ended> {
  const pairs = rest.slice(Number(count)).map((pair) => [pair.split('=', 1)[0]!, pair] as const);
  const env = Object.fromEntries(pairs.map(([name, pair]) => [name, pair.slice(name.length + 1)]));
  return runProgram(rest.slice(0, Number(count)), { cwd, env });
}

function runBash(block: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', block], {
    ...{ cwd, env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text) => {
      texts[name] += text;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
}
