import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoteForShell } from '../../src/shell-words.ts';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** Whether there is a `script` that can make a terminal (util-linux). */
export const hasTerminals = spawnSync('script', ['--version']).status === 0;

export interface TerminalOptions {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  columns: number;
  rows?: number;
}

/** The built program on a terminal of its own. */
export interface Terminal {
  /** Types these characters; `\u0003` is Ctrl-C. */
  type(text: string): void;
  /** Gives the window another width; the program is told, as a window manager would. */
  resize(columns: number): void;
  /** Every byte the terminal was sent so far. */
  output(): string;
  /** Its exit code. */
  ended: Promise<number | null>;
}

/** Starts the program on a pseudo-terminal of `script`. */
export function openTerminal(
  args: readonly string[],
  { cwd, env, columns, rows = 30 }: TerminalOptions,
): Terminal {
  const folder = mkdtempSync(join(tmpdir(), 'ledgerlake-terminal-'));
  const ttyFile = join(folder, 'tty');
  const line = [process.execPath, program, ...args].map(quoteForShell).join(' ');
  const command = `tty >${quoteForShell(ttyFile)}; stty cols ${columns} rows ${rows}; exec ${line}`;
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  }).finally(() => rmSync(folder, { recursive: true, force: true }));
  return {
    type: (text) => void child.stdin.write(text),
    resize: (width) =>
      void spawnSync('stty', ['-F', readFileSync(ttyFile, 'utf8').trim(), 'cols', `${width}`]),
    output: () => output,
    ended,
  };
}
